import { createHash } from "node:crypto";
import path from "node:path";
import { type FaultEffect, startEmulator } from "../../emulator";
import { createStack } from "../pulumi/harness";
import { API, API_ENV, either } from "./campaignApi";

const VALUES = ["canary-value-8d20c7e6f1", "canary-value-19b3aa5407"] as const;
const HIDDEN = VALUES.flatMap((value) => [value, createHash("sha256").update(value).digest("hex")]);

const CLI = path.resolve(__dirname, "../../dist/cli/main.js");

const program = (version: number) => `
const { Secret, ServerlessEndpoint, ServerlessTemplate } = require("pulumi-serverless-gpu");
const token = new Secret("token", { valueEnv: "MY_TOKEN", valueVersion: ${version} });
const template = new ServerlessTemplate("t", { imageName: "app:1", env: { HF_TOKEN: token.reference } });
const endpoint = new ServerlessEndpoint("e", {
  gpuIds: "ADA_24", workersMax: 1, templateId: template.id, templateRevision: token.version, recycleWorkers: true,
});
exports.endpointId = endpoint.id;
`;

/** Responses that show the value that was sent. */
const showing = (value: string): readonly FaultEffect[] => [
  { status: 400, body: { errors: [{ message: `the value ${value} is not allowed` }] } },
  { status: 200, body: { data: { secretCreate: { id: { value } } }, id: { value } } },
  { status: 403, body: `<html>{"value":"${value}"} was refused</html>` },
];

test.each([
  [[]],
  [["-v=11", "--logtostderr", "--logflow"]],
])("with valueEnv and %j, the value and its hash are in no state, plan, log, preview, error, journal, page or release", async (level) => {
  await using emulator = await startEmulator({ drainMs: 0 });
  const stack = await createStack({ program: program(1), env: { ...emulator.env, ...API_ENV } });
  const [first, second] = VALUES;
  const run = async (value: string, ...args: string[]) => {
    const { output, exitCode } = await stack.run([...args, ...level], { MY_TOKEN: value });
    hides(`the output of ${args.join(" ")}`, output);
    return exitCode;
  };
  const failing = async (value: string, operation: string) => {
    for (const effect of showing(value)) {
      emulator.faults.add({ match: { interface: API, operation }, effect });
      expect(await run(value, "up", "--yes", "--skip-preview")).not.toBe(0);
      emulator.faults.clear();
    }
  };
  expect(await run(first, "preview", "--diff", "--save-plan", "plan.json")).toBe(0);
  await failing(first, either("secretCreate", "createSecret"));
  expect(await run(first, "up", "--yes", "--diff")).toBe(0);
  await stack.writeProgram(program(2));
  expect(await run(second, "preview", "--diff", "--json")).toBe(0);
  await failing(second, either("secretValueUpdate", "updateSecret"));
  expect(await run(second, "up", "--yes", "--diff")).toBe(0);
  const [secret] = emulator.secrets.list();
  expect(emulator.secrets.matches(secret?.id ?? "", second)).toBe(true);
  expect(await run(second, "refresh", "--yes", "--diff")).toBe(0);
  expect(await run(second, "stack", "export", "--show-secrets")).toBe(0);

  const [endpoint] = emulator.endpoints.list();
  const history = await stack.exec("node", [CLI, "history", endpoint?.id ?? "", "--json"]);
  hides("the releases", history.output);
  hides("the page", await firstEvent(emulator.url));
  hides("the journal", JSON.stringify(emulator.journal.requests()));
  hides("the records", JSON.stringify([emulator.secrets.list(), emulator.templates.list(), emulator.endpoints.list()]));
  expect(await run(second, "destroy", "--yes", "--skip-preview")).toBe(0);
  for (const [file, text] of await stack.files()) hides(file, text);
});

/** Returns what the page first receives: the whole state. */
async function firstEvent(url: string): Promise<string> {
  const { body } = await fetch(`${url}/_emulator/events`);
  const reader = body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  const text = new TextDecoder().decode(value);
  expect(text.length).toBeGreaterThan(100);
  return text;
}

function hides(where: string, text: string): void {
  for (const hidden of HIDDEN) {
    const at = text.indexOf(hidden);
    if (at >= 0) throw new Error(`${where} shows ${hidden.slice(0, 10)}: ${text.slice(Math.max(0, at - 300), at)}`);
  }
}
