import { chmod, copyFile, mkdir } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Emulator, startEmulator } from "../../emulator";
import { createStack, type PulumiStack } from "./harness";
import type { RunningProcess } from "./processes";

/** Tests on systems where the processes of a folder are known. */
const testOnLinux = process.platform === "linux" ? test : test.skip;

const PROGRAM = `
  const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
  new ServerlessEndpoint("endpoint", { gpuIds: "AMPERE_24", templateId: "template" });`;

/**
 * Pulumi's launcher: a shell script without `exec`, so the provider's parent is a shell and not the
 * engine.
 */
async function useOfficialLauncher(stack: PulumiStack): Promise<Record<string, string>> {
  const name = "pulumi-resource-pulumi-nodejs";
  const folder = path.join(stack.scratch, "launcher");
  await mkdir(folder);
  await copyFile(
    path.join(path.dirname(require.resolve("@pulumi/pulumi/package.json")), name),
    path.join(folder, name),
  );
  await chmod(path.join(folder, name), 0o755);
  const { stdout } = await stack.exec("sh", ["-c", 'printf %s "$PATH"']);
  return { PATH: `${folder}${path.delimiter}${stdout}` };
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + 60_000;
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error("it did not come to that within 60 s");
    await sleep(50);
  }
}

/** Starts an `up`, and returns when the service holds back the first request of its create. */
async function startCreate(emulator: Emulator, launcher: "official" | "own", heldMs: number) {
  const stack = await createStack({ program: PROGRAM, env: emulator.env });
  const env = launcher === "official" ? await useOfficialLauncher(stack) : {};
  emulator.faults.add({ name: "held", match: { operation: "myself" }, effect: { latencyMs: heldMs } });
  const ended = stack.run(["up", "--yes", "--skip-preview"], env);
  await until(() => emulator.journal.requests({ outcome: "pending" }).length > 0);
  const find = async (pattern: RegExp): Promise<RunningProcess> => {
    const [found, ...more] = (await stack.processes()).filter(({ command }) => pattern.test(command));
    if (!found || more.length > 0) throw new Error(`${more.length} processes more than one match ${pattern}`);
    return found;
  };
  return { stack, ended, engine: await find(/(^|\/)pulumi up /), find };
}

testOnLinux.each(["official", "own"] as const)(
  "a provider that the %s launcher started does not finish its create after its engine was killed",
  async (launcher) => {
    await using emulator = await startEmulator({ profile: "contract" });
    const { stack, ended, engine, find } = await startCreate(emulator, launcher, 20_000);
    if (launcher === "official") await find(/^\/bin\/sh .*pulumi-resource-pulumi-nodejs/);
    process.kill(engine.pid, "SIGKILL");
    expect((await ended).exitCode).toBeNull();

    await until(async () => (await stack.processes()).length === 0);
    await until(() => emulator.journal.requests({ outcome: "pending" }).length === 0);
    expect(emulator.journal.requests({ operation: "saveEndpoint" })).toEqual([]);
    expect(emulator.endpoints.list()).toEqual([]);
  },
);

testOnLinux("a provider keeps running while its engine is paused", async () => {
  await using emulator = await startEmulator({ profile: "contract" });
  const { ended, engine } = await startCreate(emulator, "official", 4_000);
  process.kill(engine.pid, "SIGSTOP");
  await sleep(3_000);
  process.kill(engine.pid, "SIGCONT");
  expect(await ended).toMatchObject({ exitCode: 0 });
  expect(emulator.endpoints.list()).toHaveLength(1);
});
