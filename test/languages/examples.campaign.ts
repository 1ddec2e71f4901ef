import { mkdir, rm, symlink } from "node:fs/promises";
import path from "node:path";
import { startEmulator } from "../../emulator";
import { createStack, SCRATCH } from "../pulumi/harness";
import { REPOSITORY } from "../support/sources";
import { PYTHON, prepareSdk } from "./languages";

beforeAll(async () => {
  // The examples name the clone's plugin by a relative path, which these folders provide for a copy
  // of an example.
  await mkdir(path.join(SCRATCH, "plugin"), { recursive: true });
  await rm(path.join(SCRATCH, "plugin/bin"), { force: true });
  await symlink(path.join(REPOSITORY, "plugin/bin"), path.join(SCRATCH, "plugin/bin"));
});

test("yaml", async () => {
  await using emulator = await startEmulator({
    profile: "contract",
    drainMs: 100,
    coldStartMs: 50,
    strictReferences: true,
  });
  const stack = await createStack({ folder: "examples/yaml", env: emulator.env });
  await stack.up();
  const [llama] = emulator.endpoints.list();
  expect(llama).toMatchObject({ gpuIds: "ADA_48_PRO,AMPERE_48", locations: "CZ,RO", workersMax: 3 });
  expect(await stack.outputs()).toEqual({ queueUrl: `${emulator.url}/v2/${llama?.id}` });
  expect(emulator.journal.requests({ operation: "run" })).toHaveLength(1);

  await stack.setConfig({ workersMax: "5" });
  const { output } = await stack.up("--diff");
  expect(output).toMatch(/~ workersMax *: 3 => 5/);
  expect(emulator.endpoints.list()).toMatchObject([{ workersMax: 5 }]);
  await stack.destroy();
  expect([...emulator.endpoints.list(), ...emulator.templates.list()]).toEqual([]);
});

test("python", async () => {
  await prepareSdk(PYTHON);
  await using emulator = await startEmulator({ profile: "contract", drainMs: 100, strictReferences: true });
  const stack = await createStack({ folder: "examples/python", env: { ...emulator.env, ...PYTHON.env } });
  await symlink(path.join(SCRATCH, "clients/pulumi-python/venv"), path.join(stack.folder, "venv"));
  await stack.setConfig({ hf: "hf-canary-1" }, { secret: true });
  const { output } = await stack.up();
  expect(output).not.toContain("hf-canary-1");
  const [chat, summaries] = ["chat", "summaries"].map((name) =>
    emulator.endpoints.list().find((each) => each.name.startsWith(`${name}-`)),
  );
  expect(chat).toMatchObject({ gpuIds: "ADA_24,AMPERE_24", workersMax: 3, idleTimeout: 10 });
  expect(summaries).toMatchObject({ gpuIds: "AMPERE_48,-NVIDIA A40", workersMax: 3, idleTimeout: 30 });
  expect(await stack.outputs()).toEqual({
    queue_urls: { chat: `${emulator.url}/v2/${chat?.id}`, summaries: `${emulator.url}/v2/${summaries?.id}` },
    jobs_in_queue: 0,
  });

  await stack.setConfig({ chatWorkers: "5" });
  expect((await stack.up("--diff")).output).toMatch(/~ workersMax *: 3 => 5/);
  await stack.preview("--refresh", "--expect-no-changes");
  await stack.destroy();
  expect(emulator.endpoints.list()).toEqual([]);
});
