import { type Emulator, startEmulator } from "../../emulator";
import { createStack, type PulumiStack } from "./harness";

/**
 * An endpoint and data sources that find it by name: from an output, and as a plain string with
 * `dependsOn`.
 */
const PROGRAM = `
const pulumi = require("@pulumi/pulumi");
const { ServerlessEndpoint, getEndpointOutput, getEndpointsOutput } = require("pulumi-serverless-gpu");
class Group extends pulumi.ComponentResource {
  constructor(name) {
    super("test:index:Group", name);
    this.endpoint = new ServerlessEndpoint("one", { name: "llama", gpuIds: "AMPERE_16", templateId: "template" }, { parent: this });
  }
}
const group = new Group("group");
const { endpoint } = group;
exports.id = endpoint.id;
exports.byOutput = getEndpointOutput({ name: endpoint.name }).id;
exports.byText = getEndpointOutput({ name: "llama" }, { dependsOn: [endpoint] }).id;
exports.byComponent = getEndpointOutput({ name: "llama" }, { dependsOn: pulumi.output(group) }).id;
exports.count = getEndpointsOutput({ dependsOn: endpoint }).length;
`;

const DOCUMENTED = `
const { getEndpointHealthOutput, getEndpointOutput } = require("pulumi-serverless-gpu");
const { id } = getEndpointOutput({ name: "llama" });
exports.idleWorkers = getEndpointHealthOutput({ endpointId: id }).workers.idle;
`;

let emulator: Emulator;
let stack: PulumiStack;

beforeAll(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0 });
  stack = await createStack({ program: PROGRAM, env: emulator.env });
});

afterAll(() => emulator.stop());

test("a data source is unknown in the preview while its endpoint does not exist", async () => {
  const { output } = await stack.preview();
  expect(emulator.journal.operations()).toEqual([]);
  for (const name of ["id", "byOutput", "byText", "byComponent", "count"]) {
    expect(output).toMatch(new RegExp(`${name} *: \\[unknown\\]`));
  }

  await stack.up();
  const { id } = await stack.outputs();
  expect(await stack.outputs()).toEqual({ id, byOutput: id, byText: id, byComponent: id, count: 1 });
  await stack.preview("--expect-no-changes");
});

test("the documented data sources fail with one clear error when the endpoint does not exist", async () => {
  await stack.destroy();
  await stack.writeProgram(DOCUMENTED);
  // Without a limit, a failure could use up all memory.
  const { exitCode, output } = await stack.run(["preview"], { NODE_OPTIONS: "--max-old-space-size=400" });
  expect(exitCode).not.toBe(0);
  expect(output).toContain('no endpoint of this account is named "llama"');
});
