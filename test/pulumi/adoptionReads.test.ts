import { type Emulator, startEmulator } from "../../emulator";
import { createStack } from "./harness";

const program = (args: Record<string, unknown>, more = "") => `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
new ServerlessEndpoint("one", ${JSON.stringify({ gpuIds: "AMPERE_24", templateId: "template", ...args })});
${more}
`;

let emulator: Emulator;

beforeEach(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 100 });
});

afterEach(() => emulator.stop());

test("an endpoint that does not exist is neither adopted nor read", async () => {
  // An empty list would prove nothing.
  const { id } = emulator.endpoints.create({ name: "other", gpuIds: "AMPERE_16", templateId: "template" });
  const stack = await createStack({ program: program({ adoptId: "nowhere" }), env: emulator.env });
  const adopted = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(adopted.exitCode).not.toBe(0);
  expect(adopted.output).toMatch(/endpoint nowhere.* does not exist in this account/);

  await stack.writeProgram('require("pulumi-serverless-gpu").ServerlessEndpoint.get("other", "nowhere");');
  const got = await stack.run(["preview"]);
  expect(got.exitCode).not.toBe(0);
  expect(got.output).toContain("endpoint nowhere does not exist in this account");
  expect(emulator.journal.requests({ operation: "saveEndpoint" })).toEqual([]);
  emulator.endpoints.delete(id);
});

test("get reads an endpoint, even in a preview, and never changes or deletes it", async () => {
  const { id } = emulator.endpoints.create({ name: "theirs", gpuIds: "AMPERE_16", templateId: "template" });
  const got = `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
const theirs = ServerlessEndpoint.get("theirs", "${id}");
exports.name = theirs.name;
exports.queueUrl = theirs.queueUrl;
`;
  const stack = await createStack({ program: got, env: emulator.env });
  expect((await stack.preview("--diff")).output).toContain('"theirs"');
  await stack.up();
  expect(await stack.outputs()).toEqual({ name: "theirs", queueUrl: `${emulator.url}/v2/${id}` });
  await stack.up("--refresh");
  await stack.destroy();
  expect(emulator.endpoints.list()).toMatchObject([{ id }]);
  expect(emulator.journal.requests({ operation: "saveEndpoint" })).toEqual([]);
});
