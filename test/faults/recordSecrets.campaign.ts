import { inspect } from "node:util";
import { type FaultEffect, startEmulator } from "../../emulator";
import { createStack } from "../pulumi/harness";
import { API_ENV, either } from "./campaignApi";

/** A part of the value that no encoding changes. */
const ENV = "canary-env-77c0d1";
const PLAIN_LOOKING = "canary-plain-5e21aa";
const PASSWORD = "canary-password-0b9e77";
const FOREIGN = "canary-foreign-31dd90";
const SECRETS = [ENV, PLAIN_LOOKING, PASSWORD, FOREIGN];

/** JSON, GraphQL and URLs escape some of these characters. */
const VALUES = { HF_TOKEN: `a"${ENV}\\ \n/+é`, SETTING: `${PLAIN_LOOKING}, with a comma` };

/** `TOKEN` is a credential by its name; `SETTING` is one because the program says so. */
const program = (image: string, suffix = "") => `
const pulumi = require("@pulumi/pulumi");
const { ContainerRegistryAuth, ServerlessTemplate, getServerlessTemplateOutput } = require("pulumi-serverless-gpu");
const { HF_TOKEN, SETTING } = ${JSON.stringify(VALUES)};
const registry = new ContainerRegistryAuth("registry", { username: "me", password: "${PASSWORD}${suffix}" });
const template = new ServerlessTemplate("template", {
  imageName: "${image}", containerRegistryAuthId: registry.id,
  env: { HF_TOKEN: HF_TOKEN + "${suffix}", SETTING: pulumi.secret(SETTING), MODE: "visible" },
});
exports.env = template.env;
exports.password = registry.password;
exports.found = getServerlessTemplateOutput({ id: template.id });
`;

const SUFFIX = "-2";
const SENT = Object.entries(VALUES).map(([key, value]) => ({ key, value: `${value}${SUFFIX}` }));
const TOKEN = SENT[0]?.value ?? "";

/** Strings that show the request, as a careless service or gateway sends them. */
const ECHOES: readonly { readonly template: string; readonly credential: string }[] = [
  { template: JSON.stringify(SENT), credential: `{ password: "${PASSWORD}${SUFFIX}" }` },
  {
    template: `Variable "$input" got invalid value ${JSON.stringify(JSON.stringify(SENT))}`,
    credential: `password=${PASSWORD}${SUFFIX}`,
  },
  {
    template: `Expected value of type "String!", found ${JSON.stringify(TOKEN)}`,
    credential: `found "${PASSWORD}${SUFFIX}"`,
  },
  { template: inspect(SENT), credential: inspect({ secret: PASSWORD + SUFFIX }) },
  {
    template: `?token=${encodeURIComponent(TOKEN)}`,
    credential: `?auth=${encodeURIComponent(PASSWORD + SUFFIX)}`,
  },
];

/** Over REST v2, another password needs another credential. */
const OPERATIONS = {
  credential: either("updateRegistryAuth", "createRegistry"),
  template: either("saveTemplate", "updateTemplate"),
};

const showing = (text: string, index: number): FaultEffect => {
  if (index % 3 === 0) return { status: 400, body: { detail: text, errors: [{ message: text }] } };
  if (index % 3 === 1) return { status: 403, body: `<html>${text}</html>` };
  return either<FaultEffect>(
    { status: 200, body: { errors: [{ message: text, extensions: { code: "BAD_USER_INPUT" } }], data: null } },
    { status: 422, body: { title: "Unprocessable Entity", status: 422, detail: text, errors: [text] } },
  );
};

test("variables and passwords appear in no output, state, plan, message or journal", async () => {
  await using emulator = await startEmulator({ profile: "contract", templateReleaseMs: 200 });
  const stack = await createStack({ program: program("app:1"), env: { ...emulator.env, ...API_ENV } });
  const outputs: string[] = [];
  const run = async (...args: string[]) => {
    const { output, exitCode } = await stack.run(args);
    for (const secret of SECRETS) shows(args.join(" "), output, secret);
    outputs.push(output);
    return exitCode;
  };
  expect(await run("up", "--yes")).toBe(0);
  const [template] = emulator.templates.list();
  expect(template?.env).toContainEqual({ key: "HF_TOKEN", value: VALUES.HF_TOKEN });
  const env = [...(template?.env ?? []), { key: "THEIRS", value: FOREIGN }];
  emulator.templates.change(template?.id ?? "", {
    env: env.map((each) => ({ ...each, value: `${each.value}-drift` })),
  });
  expect(await run("preview", "--refresh", "--diff")).toBe(0);
  expect(await run("refresh", "--yes", "--diff")).toBe(0);
  await stack.writeProgram(program("app:2", SUFFIX));
  expect(await run("preview", "--diff", "--save-plan", "plan.json")).toBe(0);
  // The credential first: the template is changed only when that has succeeded.
  for (const kind of ["credential", "template"] as const) {
    const operation = OPERATIONS[kind];
    for (const [index, texts] of ECHOES.entries()) {
      emulator.faults.add({ match: { operation }, effect: showing(texts[kind], index) });
      expect(await run("up", "--yes", "--skip-preview")).not.toBe(0);
      emulator.faults.clear();
    }
  }
  expect(emulator.templates.list()).toMatchObject([{ imageName: "app:1" }]);
  expect(await run("up", "--yes", "--skip-preview", "--diff")).toBe(0);
  expect(emulator.templates.list()).toMatchObject([{ imageName: "app:2" }]);
  expect(await run("preview", "--refresh", "--expect-no-changes")).toBe(0);
  expect(await run("stack")).toBe(0);
  expect(await run("stack", "export")).toBe(0);
  expect(await run("destroy", "--yes")).toBe(0);

  // The service's message is passed on, without the values.
  expect(outputs.join("")).toContain("[redacted]");
  const files = [...(await stack.files())].filter(([file]) => !file.endsWith("program/index.js"));
  for (const secret of SECRETS) {
    for (const [file, text] of files) shows(file, text, secret);
    shows("the journal", JSON.stringify(emulator.journal.requests()), secret);
  }
}, 1_200_000);

function shows(where: string, text: string, secret: string): void {
  const at = text.indexOf(secret);
  if (at >= 0) throw new Error(`${where} shows ${secret.slice(0, 12)}: ${text.slice(Math.max(0, at - 400), at)}`);
}
