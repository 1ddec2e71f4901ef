import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { createStack, type PulumiStack } from "./harness";

const PLUGIN = path.resolve(__dirname, "../../plugin/bin");

let emulator: Emulator;

beforeEach(async () => {
  emulator = await startEmulator();
});

afterEach(() => emulator.stop());

/** Returns a stack whose program declares resources of the plugin. */
async function stackOf(program: string): Promise<PulumiStack> {
  const stack = await createStack({ env: emulator.env });
  await stack.writeFile(
    "Pulumi.yaml",
    `name: test\nruntime:\n  name: nodejs\n  options:\n    typescript: false\nplugins:\n  providers:\n    - name: serverless-gpu\n      path: ${PLUGIN}\n`,
  );
  await stack.writeProgram(withHelper(program));
  return stack;
}

/** A program, in which `make` declares a resource of the plugin without a generated SDK. */
function withHelper(program: string): string {
  return `
const pulumi = require("@pulumi/pulumi");
class Resource extends pulumi.CustomResource {
  constructor(kind, name, args, options) {
    const outputs = ["name", "gpuIds", "queueUrl", "workersMax", "revision", "env", "jobId"];
    super("serverless-gpu:index:" + kind, name, { ...Object.fromEntries(outputs.map((each) => [each, undefined])), ...args }, options);
  }
}
const make = (kind, name, args, options) => new Resource(kind, name, args, options);
${program}`;
}

test("creates, previews no change, shows a field, updates, shows drift, repairs it, and destroys", async () => {
  const program = (workersMax: number) => `
const one = make("ServerlessEndpoint", "one", { gpuIds: ["AMPERE_16", "AMPERE_24"], templateId: "template", workersMax: ${workersMax} });
exports.url = one.queueUrl;
exports.gpuIds = one.gpuIds;
`;
  const stack = await stackOf(program(2));
  console.log((await stack.preview("--diff")).output);
  console.log((await stack.up()).output);
  console.log(await stack.outputs(), JSON.stringify((await stack.exportState()).deployment.resources, null, 1));
  await stack.preview("--expect-no-changes");
  await stack.writeProgram(withHelper(program(3)));
  console.log((await stack.preview("--diff")).output);
  console.log((await stack.up()).output);
  console.log((await stack.destroy()).output);
});
