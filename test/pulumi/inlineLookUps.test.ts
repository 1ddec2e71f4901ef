import { readFile } from "node:fs/promises";
import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { createStack, type PulumiStack } from "./harness";

/**
 * Inline programs that declare everything after a look-up, and await nothing. Each first deploys
 * without a look-up, so that there is something to lose.
 */
const INLINE = `
const { LocalWorkspace } = require("@pulumi/pulumi/automation");
const { getEndpoint, getEndpointOutput, ServerlessEndpoint, ServerlessTemplate } = require("pulumi-serverless-gpu");

const declare = () => {
  const template = new ServerlessTemplate("template", { imageName: "image:1" });
  new ServerlessEndpoint("one", { gpuIds: "AMPERE_16", templateId: template.id });
};

const PROGRAMS = {
  none: declare,
  output: () => void getEndpointOutput({ name: "theirs" }).apply(declare),
  promise: () => void getEndpoint({ name: "theirs" }).then(declare),
  missingOutput: () => void getEndpointOutput({ name: "missing" }).apply(declare),
  missingPromise: () => void getEndpoint({ name: "missing" }).then(declare),
};

(async () => {
  const results = {};
  for (const name of process.argv.slice(2)) {
    const options = { stackName: "test", projectName: "test", program: async () => PROGRAMS[name]() };
    const stack = await LocalWorkspace.createOrSelectStack(options, { workDir: __dirname });
    let output = "";
    const onOutput = (text) => { output += text; };
    const failed = await stack.up({ onOutput }).then(() => false, () => true);
    const { deployment } = await stack.exportStack();
    results[name] = { failed, count: deployment.resources.filter(({ id }) => id).length, output };
  }
  require("fs").writeFileSync("results.json", JSON.stringify(results));
})();
`;

interface Result {
  readonly failed: boolean;
  readonly count: number;
  readonly output: string;
}

let emulator: Emulator;
let stack: PulumiStack;

beforeAll(async () => {
  emulator = await startEmulator({ profile: "contract", coldStartMs: 0, drainMs: 0 });
  emulator.endpoints.create({ name: "theirs", gpuIds: "AMPERE_16", templateId: "template" });
  stack = await createStack({ program: "", env: emulator.env });
  await stack.writeFile("inline.js", INLINE);
}, 600_000);

afterAll(() => emulator.stop());

async function upInline(programs: readonly string[]): Promise<Record<string, Result>> {
  const { exitCode, output } = await stack.exec("node", ["inline.js", ...programs]);
  if (exitCode !== 0) throw new Error(output);
  return JSON.parse(await readFile(path.join(stack.folder, "results.json"), "utf8"));
}

test("an inline program that declares its resources after a slow lookup keeps them, and a program whose lookup fails is refused", async () => {
  emulator.faults.add({ match: { operation: "myself" }, effect: { latencyMs: 1500 } });
  const results = await upInline(["none", "output", "promise", "missingOutput", "missingPromise"]);
  const missing = { failed: true, output: expect.stringContaining("missing") };
  expect(results).toMatchObject({
    output: { failed: false },
    promise: { failed: false },
    missingOutput: missing,
    missingPromise: missing,
  });
  const counts = Object.values(results).map(({ count }) => count);
  expect(new Set(counts).size).toBe(1);
  expect(emulator.journal.operations().filter((operation) => operation.startsWith("delete"))).toEqual([]);
});
