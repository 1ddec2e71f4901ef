import { type FaultEffect, startEmulator } from "../../emulator";
import { createStack } from "../pulumi/harness";
import { API, API_ENV } from "./campaignApi";

const KEY = "canary-key-77aa31c5d2";
const JOB_SECRET = "canary-job-4e0f99b1c8";
const POD_SECRET = "canary-pod-d1c2b3a495";
const SECRETS = [KEY, JOB_SECRET, POD_SECRET];

/**
 * At this level the engine itself shows properties, secret ones too (SECURITY.md); keys must not be
 * among them.
 */
const VERBOSE = ["-v=11", "--logtostderr", "--logflow"];

const program = (trigger: number) => `
const pulumi = require("@pulumi/pulumi");
const { ServerlessEndpoint, SmokeTest, getPod, getEndpoints } = require("pulumi-serverless-gpu");
const one = new ServerlessEndpoint("one", {
  gpuIds: "AMPERE_16", templateId: "template", workersMin: 1, workersMax: ${1 + trigger},
});
new SmokeTest("responds", {
  endpointId: one.endpointId, input: pulumi.secret({ token: "canary-job-4e0f99b1c8" }), triggers: [${trigger}],
});
exports.env = getPod({ podId: "pod-1" }).then(({ env }) => env);
exports.count = getEndpoints().then(({ length }) => length);
`;

/** Responses that show the request, as a careless gateway sends them. */
const SHOWING: readonly FaultEffect[] = [
  { status: 400, body: { errors: [{ message: `the key ${KEY} is not allowed` }] } },
  { status: 200, body: { data: { myself: { key: KEY } }, id: { key: KEY } } },
  { status: 403, body: `<html>GET /graphql?api_key=${KEY} was refused: Bearer ${KEY}</html>` },
  { reset: true },
];

test.each([
  ["the environment", [], SECRETS],
  ["the stack's config", [], SECRETS],
  ["the environment", VERBOSE, [KEY]],
  ["the stack's config", VERBOSE, [KEY]],
])("a key from %s, with %j: no secret shows in any output, in state, plan or journal", async (source, level, hidden) => {
  await using emulator = await startEmulator({ profile: "contract", apiKey: KEY, drainMs: 100 });
  emulator.pods.add({ id: "pod-1", env: { API_KEY: POD_SECRET } });
  const { SERVERLESS_GPU_API_KEY, ...others } = emulator.env;
  const addresses = { ...others, ...API_ENV };
  const isInConfig = source !== "the environment";
  const stack = await createStack({
    program: program(1),
    env: { ...addresses, ...(!isInConfig && { SERVERLESS_GPU_API_KEY }) },
  });
  if (isInConfig) await stack.setConfig({ "serverless-gpu:apiKey": KEY }, { secret: true });

  const run = async (...args: string[]) => {
    const { output, exitCode } = await stack.run([...args, ...level]);
    for (const secret of hidden) shows(`the output of ${args.join(" ")}`, output, secret);
    return exitCode;
  };
  expect(await run("up", "--yes")).toBe(0);
  expect(await run("refresh", "--yes", "--diff")).toBe(0);
  await stack.writeProgram(program(2));
  expect(await run("preview", "--diff", "--save-plan", "plan.json")).toBe(0);
  for (const effect of SHOWING) {
    emulator.faults.add({ match: { interface: API }, effect });
    expect(await run("up", "--yes", "--skip-preview")).not.toBe(0);
    expect(await run("refresh", "--yes", "--skip-preview")).not.toBe(0);
    emulator.faults.clear();
  }
  const echo = { detail: `400: {"input":{"token":"${JOB_SECRET}"}} from Bearer ${KEY}` };
  emulator.faults.add({ match: { operation: "run" }, effect: { status: 400, body: echo }, times: 1 });
  expect(await run("up", "--yes", "--skip-preview")).not.toBe(0);
  expect(await run("up", "--yes", "--skip-preview")).toBe(0);
  expect(await run("stack", "export")).toBe(0);
  expect(await run("destroy", "--yes", "--skip-preview")).toBe(0);

  for (const secret of SECRETS) {
    for (const [file, text] of await stack.files()) if (!isProgram(file)) shows(file, text, secret);
    shows("the journal", JSON.stringify(emulator.journal.requests()), secret);
  }
});

/** The program is the user's own text. */
const isProgram = (file: string) => file.endsWith("program/index.js");

function shows(where: string, text: string, secret: string): void {
  const at = text.indexOf(secret);
  if (at >= 0) throw new Error(`${where} shows ${secret.slice(0, 10)}: ${text.slice(Math.max(0, at - 300), at)}`);
}
