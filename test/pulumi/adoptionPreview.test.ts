import { type Emulator, startEmulator } from "../../emulator";
import { createStack, endpointsIn, type PulumiStack } from "./harness";

const SECRET = "template-of-the-secret-kind";

let emulator: Emulator;
let ids: Record<string, string>;
let stack: PulumiStack;

const program = (adopt: string) => `
const pulumi = require("@pulumi/pulumi");
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
const adopt = ${adopt};
adopt("differs", { gpuIds: ["AMPERE_24"], templateId: pulumi.secret("${SECRET}"), workersMax: 3, idleTimeout: null });
adopt("same", { gpuIds: "AMPERE_16", templateId: "template" });
`;

const adopting = () => `(name, args) =>
  new ServerlessEndpoint(name, { adoptId: ${JSON.stringify(ids)}[name], ...args })`;

beforeAll(async () => {
  emulator = await startEmulator({ drainMs: 0 });
  const made = { gpuIds: "AMPERE_16", templateId: "template" };
  ids = {
    differs: emulator.endpoints.create({ ...made, name: "by hand", workersMax: 9, idleTimeout: 77 }).id,
    same: emulator.endpoints.create({ ...made, name: "same" }).id,
  };
  stack = await createStack({ program: program(adopting()), env: emulator.env });
});

beforeEach(() => emulator.journal.clear());

afterAll(() => emulator.stop());

test("a preview shows the changes of an adoption field by field, without secrets, from one list", async () => {
  const { output } = await stack.preview("--diff");
  expect(output).toContain(
    `endpoint ${ids.differs} ("by hand") is adopted; no endpoint is created. The program changes:`,
  );
  expect(output).toContain('gpuIds: "AMPERE_16" → "AMPERE_24"');
  expect(output).toContain("workersMax: 9 → 3");
  expect(output).toContain("idleTimeout: 77 → 10");
  expect(output).toContain("templateId: [secret]");
  expect(output).toContain(`endpoint ${ids.same} ("same") is adopted; no endpoint is created. Nothing changes`);
  expect(output).not.toContain(SECRET);
  expect(emulator.journal.operations()).toEqual(["myself"]);
});

test("an id that does not exist fails the preview at its resource, and the others are still shown", async () => {
  await stack.writeProgram(
    program(
      `(name, args) => new ServerlessEndpoint(name, { adoptId: name === "same" ? "${ids.same}" : "nowhere", ...args })`,
    ),
  );
  const { exitCode, output } = await stack.run(["preview"]);
  expect(exitCode).not.toBe(0);
  expect(output).toMatch(/ServerlessEndpoint \(differs\):\n +error: endpoint nowhere does not exist in this account/);
  expect(output).toContain(`endpoint ${ids.same} ("same") is adopted`);
});

test.each([
  ["without a key", { SERVERLESS_GPU_API_KEY: "" }, "there is no API key"],
  ["with a wrong key", { SERVERLESS_GPU_API_KEY: "another-key-7" }, "401"],
])("%s, the preview warns and continues", async (_case, env, reason) => {
  await stack.writeProgram(program(adopting()));
  const { exitCode, output } = await stack.run(["preview"], env);
  expect(exitCode).toBe(0);
  expect(output).toMatch(
    new RegExp(`\\(same\\):\\n +warning: the preview cannot show the changes of the adoption: .*${reason}`),
  );
});

test("an id, a value or a provider that is not known yet", async () => {
  await stack.writeProgram(`
const { ServerlessEndpoint, ServerlessGpuProvider } = require("pulumi-serverless-gpu");
const made = { gpuIds: "AMPERE_16", templateId: "template" };
const first = new ServerlessEndpoint("first", made);
new ServerlessEndpoint("id", { ...made, adoptId: first.id });
new ServerlessEndpoint("value", { ...made, adoptId: "${ids.differs}", workersMax: 3, networkVolumeId: first.queueUrl });
const provider = new ServerlessGpuProvider("other", { apiKey: first.id, graphqlUrl: "${emulator.url}", queueUrl: "${emulator.url}" });
new ServerlessEndpoint("provider", { ...made, adoptId: "${ids.same}" }, { provider });
`);
  const { output } = await stack.preview("--diff");
  expect(output).toContain("the preview cannot show the changes of the adoption: adoptId is not known yet");
  expect(output).toContain("workersMax: 9 → 3\n");
  expect(output).toContain("networkVolumeId: to a value that is not known yet");
  expect(output).toContain(
    "the preview cannot show the changes of the adoption: the provider's settings are not known yet",
  );
  expect(output).not.toContain(`${ids.same} (`);
});

test("up shows its changes without secret values; after that, adoptId prints nothing and reads nothing", async () => {
  await stack.writeProgram(program(adopting()));
  const up = await stack.up();
  expect(up.output).toContain(`adopted endpoint ${ids.differs}; changed gpuIds "AMPERE_16" → "AMPERE_24"`);
  expect(up.output).toContain("templateId [secret]");
  expect(up.output).not.toContain(SECRET);
  expect(emulator.endpoints.get(ids.differs ?? "")).toMatchObject({ templateId: SECRET, workersMax: 3 });

  emulator.journal.clear();
  const { output } = await stack.preview("--expect-no-changes");
  expect(output).not.toContain("is adopted");
  expect(emulator.journal.operations()).toEqual([]);
  const state = JSON.stringify(endpointsIn(await stack.exportState()));
  expect(state).not.toContain(SECRET);
});

test("an error about a secret input does not show it", async () => {
  await stack.writeProgram(
    program(`(name, args) => new ServerlessEndpoint(name, { adoptId: ${JSON.stringify(ids)}[name], ...args,
      gpuIds: pulumi.secret(["AMPER_24_HIDDEN"]), workersMin: pulumi.secret(77123), workersMax: 3,
      locations: [pulumi.secret("HIDDEN_PLACE")] })`),
  );
  const { exitCode, output } = await stack.run(["preview"]);
  expect(exitCode).not.toBe(0);
  for (const field of ["gpuIds", "workersMin", "locations"]) {
    expect(output).toContain(`${field} has an invalid value, which is secret and not shown`);
  }
  expect(output).not.toMatch(/HIDDEN|77123/);
});
