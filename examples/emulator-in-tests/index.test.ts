import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { LocalWorkspace } from "@pulumi/pulumi/automation";
import { type Emulator, startEmulator } from "pulumi-serverless-gpu/emulator";

// State and the stack's config are in a temporary folder.
const scratch = mkdtempSync(path.join(os.tmpdir(), "emulator-in-tests-"));
let emulator: Emulator;

beforeAll(async () => {
  emulator = await startEmulator({ drainMs: 0 });
});

afterAll(async () => {
  await emulator.stop();
  rmSync(scratch, { recursive: true, force: true });
});

test("the program deploys one endpoint, and cleans up after itself", async () => {
  const envVars = { ...emulator.env, PULUMI_BACKEND_URL: `file://${scratch}`, PULUMI_CONFIG_PASSPHRASE: "test" };
  const stack = await LocalWorkspace.createOrSelectStack({ stackName: "test", workDir: __dirname }, { envVars });

  const { outputs } = await stack.up();
  const [chat] = emulator.endpoints.list();
  expect(chat).toMatchObject({ name: "chat", gpuIds: "AMPERE_24,AMPERE_48", workersMax: 2 });
  expect(outputs.queueUrl?.value).toBe(`${emulator.url}/v2/${chat?.id}`);
  expect(emulator.journal.requests({ operation: "saveEndpoint" })).toHaveLength(1);

  await stack.destroy();
  await stack.workspace.removeStack("test");
  expect(emulator.endpoints.list()).toEqual([]);
});
