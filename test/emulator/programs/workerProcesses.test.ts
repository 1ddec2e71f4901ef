import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { manualClock, scaledClock, startEmulator } from "../../../emulator";
import { PROTOCOL_WORKER, processesWith, startRealWorkers, stopRealWorkers, until } from "../../support/realWorkers";

afterEach(stopRealWorkers);

const emulatorModule = path.resolve(__dirname, "../../../dist/emulator");

/** A program that leaves a second process in its group, and says so. */
const withChild = (more = "") => ({
  ...PROTOCOL_WORKER,
  command: `sleep 300 & ${more} exec ${PROTOCOL_WORKER.command}`,
});

const isLinux = process.platform === "linux";

describe("a worker's process", () => {
  test("[worker.stop] a worker's process ends gracefully with its whole process group when its worker scales down", async () => {
    const { runSync, emulator, endpointId, output } = await startRealWorkers(withChild(), { idleTimeout: 1 });
    const { output: result } = await runSync({ echo: 1 });
    const [pod] = emulator.endpoints.get(endpointId)?.pods ?? [];
    if (isLinux) expect(processesWith("RUNPOD_POD_ID", pod?.id ?? "").length).toBeGreaterThan(1);
    await until(() => emulator.endpoints.get(endpointId)?.pods.length === 0);
    expect(() => process.kill(result.pid, 0)).toThrow("ESRCH");
    expect(output("emulator").at(-1)).toMatch(/ended with exit code 0$/);
    await until(() => !isLinux || processesWith("RUNPOD_POD_ID", pod?.id ?? "").length === 0);
  });

  test("[worker.stop] a worker's process is killed if it does not end in time, and counts as a worker until then", async () => {
    const program = { ...PROTOCOL_WORKER, env: { WORKER_IGNORES_SIGTERM: "1" }, stopMs: 500 };
    const { runSync, emulator, endpointId, output } = await startRealWorkers(program);
    await runSync({});
    emulator.endpoints.change(endpointId, { workersMax: 0 });
    await sleep(200);
    expect(emulator.endpoints.get(endpointId)?.pods).toMatchObject([
      { lastStatusChange: "Draining after a scale-down" },
    ]);
    await until(() => emulator.endpoints.get(endpointId)?.pods.length === 0);
    expect(output("emulator").at(-1)).toMatch(/was ended by SIGKILL$/);
  });

  test("a worker's process finishes its job first when its worker drains", async () => {
    const { run, job, emulator, endpointId } = await startRealWorkers();
    const id = await run({ sleep: 1000, echo: "done" });
    await until(async () => (await job(id)).status === "IN_PROGRESS");
    emulator.endpoints.change(endpointId, { workersMax: 0 });
    await until(async () => (await job(id)).status === "COMPLETED");
    await until(() => emulator.endpoints.get(endpointId)?.pods.length === 0);
  });

  test("[worker.lost] a worker's process is replaced when it ends during a job, and the job runs once more", async () => {
    const { runSync, get, output } = await startRealWorkers();
    expect(await runSync({ exit: 3 })).toMatchObject({
      status: "FAILED",
      error: "job timed out after 1 retries",
      retries: 1,
    });
    expect(output("emulator").filter((line) => line.endsWith("ended with exit code 3"))).toHaveLength(2);
    expect((await get("health")).jobs).toMatchObject({ failed: 1, retried: 1 });
    expect(await runSync({ echo: "next" })).toMatchObject({ status: "COMPLETED" });
  });

  test("[worker.execution-timeout] a worker's process is stopped and replaced when its job takes too long", async () => {
    const { runSync } = await startRealWorkers({ ...PROTOCOL_WORKER, stopMs: 0 });
    const { output: first } = await runSync({});
    const policy = { executionTimeout: 5000 };
    expect(await runSync({ sleep: 60_000 }, { policy })).toMatchObject({
      status: "FAILED",
      error: "executionTimeout exceeded",
    });
    const { output: second } = await runSync({});
    expect(second.pid).not.toBe(first.pid);
    expect(() => process.kill(first.pid, 0)).toThrow("ESRCH");
  });

  test("[worker.refresh] a worker's process is replaced after its job if it requests this", async () => {
    const { runSync, emulator, endpointId } = await startRealWorkers();
    const { output: first } = await runSync({ refresh: true });
    const { output: second } = await runSync({});
    expect(second.pid).not.toBe(first.pid);
    expect(emulator.endpoints.get(endpointId)?.pods).toHaveLength(1);
  });

  test("[worker.failed-start] a worker's process is restarted after a pause if it exits at once, and its worker remains initializing", async () => {
    const { output, get, post, run } = await startRealWorkers({ command: "echo no module named torch >&2; exit 1" });
    const id = await run({});
    await sleep(2000);
    const ends = output("emulator").filter((line) => line.endsWith("ended with exit code 1 before it asked for a job"));
    expect(ends.length).toBeGreaterThan(1);
    expect(ends.length).toBeLessThan(4);
    expect(output("stderr")[0]).toBe("no module named torch");
    expect((await get("health")).jobs).toMatchObject({ inQueue: 1 });
    expect(await post(`cancel/${id}`)).toMatchObject({ status: "CANCELLED" });
  });

  test("a worker's process is reported with the reason if it cannot be started", async () => {
    const { run, output } = await startRealWorkers({ command: "true", cwd: path.join(__dirname, "missing") });
    await run({});
    await until(() => output("emulator").length > 1);
    expect(output("emulator")[1]).toMatch(/cannot be started: there is no such file or folder .*missing/);
  });

  test("a worker's process ends when its endpoint is deleted or the emulator stops", async () => {
    const { runSync, emulator, endpointId } = await startRealWorkers(withChild());
    const { output: first } = await runSync({});
    emulator.endpoints.delete(endpointId);
    const { id } = emulator.endpoints.create({ name: "worker", gpuIds: "ADA_24", templateId: "t", workersMin: 2 });
    await until(() => emulator.journal.workerOutput({ endpointId: id, stream: "emulator" }).length === 2);
    await emulator.stop();
    expect(() => process.kill(first.pid, 0)).toThrow("ESRCH");
    if (isLinux) expect(processesWith("RUNPOD_ENDPOINT_ID", id)).toEqual([]);
  });

  test("a worker's process runs a different program in new workers after a change to the endpoint", async () => {
    const other = { ...PROTOCOL_WORKER, env: { MODEL: "other" } };
    const handlers = { worker: PROTOCOL_WORKER, other, plain: () => "a function" };
    const { runSync, emulator, endpointId } = await startRealWorkers(PROTOCOL_WORKER, {}, { handlers });
    expect((await runSync({ env: true })).output.MODEL).toBeUndefined();
    emulator.endpoints.change(endpointId, { name: "other" });
    expect((await runSync({ env: true })).output.MODEL).toBe("other");
    emulator.endpoints.change(endpointId, { name: "plain" });
    expect((await runSync({})).output).toBe("a function");
  });
});

(isLinux ? describe : describe.skip)("no process is left behind", () => {
  test.each([
    "SIGKILL",
    "SIGTERM",
  ] as const)("[worker.orphan] worker processes end when the emulator receives %s", async (signal) => {
    const mark = `mark-${process.pid}-${signal}`;
    const seed = { endpoints: [{ name: "worker", gpuIds: "ADA_24", templateId: "t", workersMin: 2 }] };
    const program = { ...withChild(), env: { MARK: mark } };
    const script = `const { startEmulator } = require(${JSON.stringify(emulatorModule)});
      startEmulator(${JSON.stringify({ profile: "contract", handlers: { worker: program }, seed })}).then((emulator) => {
        process.once("SIGTERM", () => emulator.stop());
        console.log(emulator.url);
      });`;
    const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    await until(() => processesWith("MARK", mark).length >= 6);
    child.kill(signal);
    await once(child, "exit");
    await until(() => processesWith("MARK", mark).length === 0);
  });
});

describe("a program needs the real clock", () => {
  const handlers = { llama: { command: "true" } };
  test.each([
    [
      "a manual clock",
      manualClock(),
      /handlers\.llama is a program.*a manual clock\. Start the emulator with the real/s,
    ],
    ["a faster clock", scaledClock(10), /handlers\.llama is a program.*a clock that is not the machine's/s],
  ])("%s is refused", async (_name, clock, message) => {
    await expect(startEmulator({ profile: "contract", handlers, clock })).rejects.toThrow(message);
  });

  test.each([
    [{ command: "" }, "must not be empty"],
    [{ command: "x", env: { "A B": "secret" } }, 'env["A B"]'],
    [{ command: "x", concurrency: 0 }, "concurrency"],
    [{ command: "x", arguments: [] }, "arguments"],
  ])("%j is refused with a message that shows no value", async (program, message) => {
    const error = await startEmulator({ profile: "contract", handlers: { llama: program as never } }).catch(
      (error: Error) => error,
    );
    expect(String(error)).toContain("The program handlers.llama is not well formed");
    expect(String(error)).toContain(message);
    expect(String(error)).not.toContain("secret");
  });
});
