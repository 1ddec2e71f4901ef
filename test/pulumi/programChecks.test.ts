import { readFile } from "node:fs/promises";
import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { createStack, endpointsIn, type PulumiStack } from "./harness";

const HEAD = `
const pulumi = require("@pulumi/pulumi");
const { ServerlessEndpoint, ServerlessGpuProvider, SmokeTest } = require("pulumi-serverless-gpu");
const right = { gpuIds: "AMPERE_16", templateId: "template" };
`;

const GOOD = `
const good = new ServerlessEndpoint("good", { ...right, name: pulumi.output(undefined) }, {
  ignoreChanges: ["gpuIds[1]"],
  customTimeouts: { delete: "1h" },
});
exports.name = good.name;
`;

/**
 * The broken resources: plain, a child of another resource, with secret and unknown arguments, and
 * in a component.
 */
const BROKEN = `
new ServerlessEndpoint("typo", { ...right, gpuIds: "AMPER_24" });
new ServerlessEndpoint("child", { ...right, gpuIds: ["AMPERE_24", null], idleTimout: good.idleTimeout }, { parent: good });
new ServerlessEndpoint("hidden", { ...right, flashBootType: pulumi.secret("hunter2") });
class Group extends pulumi.ComponentResource {
  constructor(name) {
    super("test:index:Group", name);
    new ServerlessEndpoint("grouped", { ...right, workersMin: 4, workersMax: 2 }, { parent: this });
  }
}
new Group("group");
new SmokeTest("smoke", { endpointId: good.endpointId, input: 3 });
`;

let emulator: Emulator;
let stack: PulumiStack;

beforeAll(async () => {
  emulator = await startEmulator({ profile: "contract", coldStartMs: 0, drainMs: 0 });
  stack = await createStack({ program: HEAD + GOOD + BROKEN, env: emulator.env });
});

beforeEach(() => emulator.journal.clear());

afterAll(() => emulator.stop());

/** Expects all problems of the broken resources, each below its resource. */
function expectAllProblems(output: string) {
  const diagnostics = output.slice(output.indexOf("Diagnostics:"));
  const below = (resource: string, error: string) =>
    new RegExp(`\\(${resource}\\):\\n(?: +warning: .*\\n)*(?: +error: .*\\n)*? +error: ${error}`);
  expect(diagnostics).toMatch(
    below("typo", '"typo": gpuIds "AMPER_24" is not a known GPU pool. Did you mean AMPERE_24'),
  );
  expect(diagnostics).toMatch(below("grouped", '"grouped": workersMin is 4, more than workersMax \\(2\\)'));
  expect(diagnostics).toMatch(below("smoke", '"smoke": input must be an object'));
  expect(diagnostics).toMatch(below("hidden", '"hidden": flashBootType has an invalid value, which is secret'));
  expect(diagnostics).toMatch(/"child": gpuIds must be .*element \[1\] of the list is null/);
  expect(diagnostics).toMatch(/"child": idleTimout is not a property. Did you mean idleTimeout/);
  expect(output).not.toContain("hunter2");
}

test("one preview reports the problems of all resources at once", async () => {
  const { exitCode, output } = await stack.run(["preview"]);
  expect(exitCode).not.toBe(0);
  expectAllProblems(output);
});

test("an invalid program creates nothing, not even valid resources, and not even without a preview", async () => {
  const { exitCode, output } = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(exitCode).not.toBe(0);
  expectAllProblems(output);
  expect(emulator.journal.operations()).toEqual([]);
});

test("a program fails with all reasons even if it logs to a resource that is not registered", async () => {
  await stack.writeProgram(`${HEAD}${GOOD}pulumi.log.info("hello", good);${BROKEN}`);
  const { exitCode, output } = await stack.run(["preview"]);
  expect(exitCode).not.toBe(0);
  expect(output).toContain('"typo": gpuIds "AMPER_24" is not a known GPU pool');
  expect(output).toContain('"smoke": input must be an object');
});

test("a name from an undefined output becomes automatic, and options without effect cause a warning on their resource", async () => {
  await stack.writeProgram(HEAD + GOOD);
  const { output } = await stack.up();
  expect((await stack.outputs()).name).toMatch(/^good-[0-9a-f]{7}$/);
  const [, warnings] = /ServerlessEndpoint \(good\):\n((?: +warning: .*\n)+)/.exec(output) ?? [];
  expect(warnings).toMatch(/ignoreChanges: "gpuIds\[1\]" has no effect.*Name the whole field, "gpuIds"/);
  expect(warnings).toMatch(/customTimeouts has no effect.*drainTimeout.*awaitReadyTimeout/);
  await stack.preview("--expect-no-changes");
});

test("an existing resource whose inputs are now invalid is neither changed nor deleted", async () => {
  await stack.writeProgram(HEAD + GOOD.replace("...right", "...right, gpuIds: 'nonsense'"));
  const { exitCode, output } = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(exitCode).not.toBe(0);
  expect(output).toContain('"good": gpuIds "nonsense" is not a known GPU pool');
  expect(emulator.journal.operations()).toEqual([]);
  expect(emulator.endpoints.list()).toHaveLength(1);
  expect(endpointsIn(await stack.exportState())).toHaveLength(1);
});

test("arguments that the engine or a transformation changes later are not refused prematurely", async () => {
  await stack.writeProgram(`${HEAD}
const odd = { ...right, gpuIds: "nonsense" };
new ServerlessEndpoint("good", odd, { ignoreChanges: ["gpuIds"] });
const correct = ({ props, opts }) => ({ props: { ...props, gpuIds: "AMPERE_24" }, opts });
new ServerlessEndpoint("transformed", odd, { transformations: [correct] });
pulumi.runtime.registerResourceTransform(({ type, props, opts }) =>
  type.endsWith(":ServerlessEndpoint") && props.gpuIds === "later" ? correct({ props, opts }) : undefined);
new ServerlessEndpoint("later", { ...right, gpuIds: "later" });
`);
  await stack.preview();
});

test("the GPU pools and countries of an explicit provider, the config or the named service are accepted", async () => {
  await stack.writeFile(
    "Pulumi.dev.yaml",
    `${await readFile(path.join(stack.folder, "Pulumi.dev.yaml"), "utf8")}
config:
  serverless-gpu:acceptWords: [HOPPER_142, HOPPER_143]
`,
  );
  await stack.writeProgram(`${HEAD}
const more = new ServerlessGpuProvider("more", { apiKey: "key", graphqlUrl: "http://127.0.0.1:9", queueUrl: "http://127.0.0.1:9", acceptWords: ["HOPPER_144", "XX"] });
const known = new ServerlessGpuProvider("known", { apiKey: "key", service: "runpod" });
new ServerlessEndpoint("good", { ...right, gpuIds: ["HOPPER_143", "HOPPER_145", "FUTURE_300"] });
new ServerlessEndpoint("more", { ...right, gpuIds: ["HOPPER_144", "HOPPER_145"], locations: ["XX", "YY"] }, { provider: more });
new ServerlessEndpoint("known", { ...right, gpuIds: "HOPPER_141", locations: "CA" }, { provider: known });
`);
  const env = { SERVERLESS_GPU_ACCEPT_WORDS: "HOPPER_145,YY" };
  await stack.succeed(["preview"], env);
  const { exitCode, output } = await stack.run(["preview"]);
  expect(exitCode).not.toBe(0);
  expect(output).toMatch(/"good": gpuIds "HOPPER_145" is not a known.*HOPPER_142/);
  expect(output).toMatch(/"more": locations "YY" is neither.*serverless-gpu:acceptWords/);
});

test("an unreadable config setting is reported for each resource that needs it", async () => {
  const file = path.join(stack.folder, "Pulumi.dev.yaml");
  const before = await readFile(file, "utf8");
  const wrong = "config:\n  serverless-gpu:acceptWords: { pool: HOPPER_142 }\n";
  await stack.writeFile("Pulumi.dev.yaml", `${before.replace(/^config:.*/ms, "")}${wrong}`);
  await stack.writeProgram(`${HEAD}${GOOD}`);
  const { exitCode, output } = await stack.run(["preview"]);
  await stack.writeFile("Pulumi.dev.yaml", before);
  expect(exitCode).not.toBe(0);
  expect(output).toContain('"good": serverless-gpu:acceptWords must be a comma-separated string');
  expect(output).toContain('fix the problems with "good"');
  expect(output).not.toMatch(/unhandled|Error:.*ConfigurationError|\bat .*\.js:/i);
});

test("the import option fails with the advice to adopt", async () => {
  await stack.writeProgram(`${HEAD}new ServerlessEndpoint("llama", right, { import: "some-id" });`);
  const { exitCode, output } = await stack.run(["preview"]);
  expect(exitCode).not.toBe(0);
  expect(output).toMatch(/"llama": a ServerlessEndpoint cannot be imported. Remove the option import: set adoptId/);
  expect(output).not.toContain("toJavaScript");
});
