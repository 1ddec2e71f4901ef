import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startEmulator } from "../../emulator";
import { PROTOCOL_WORKER, processesWith, until } from "../support/realWorkers";

/** The number of processes that start and stop. A worker that is a shell takes 10 ms, one in Node.js 100 ms. */
const CYCLES = Number(process.env.WORKER_CYCLES ?? 2000);
const AT_ONCE = 8;
const ROUNDS_OF_KILLS = Number(process.env.WORKER_KILLS ?? 20);

/** Says that it is there, leaves a second process in its group, and then ignores nothing. */
const SHELL_WORKER = "sleep 300 & echo up; exec sleep 300";

test(`${CYCLES} starts and stops of workers leave no process and no folder behind`, async () => {
  const mark = `campaign-${process.pid}`;
  const handlers = { worker: { command: SHELL_WORKER, env: { MARK: mark } } };
  const emulator = await startEmulator({ handlers, drainMs: 0 });
  let ups = 0;
  for (let round = 0; ups < CYCLES; round += 1) {
    const { id } = emulator.endpoints.create({
      ...{ id: `e${round}`, name: "worker", gpuIds: "ADA_24", templateId: "t" },
      ...{ workersMin: AT_ONCE, workersMax: AT_ONCE },
    });
    const lines = () => emulator.journal.workerOutput({ endpointId: id });
    // In half of the rounds the processes are ended while they start.
    if (round % 2 === 0) await until(() => lines().filter(({ line }) => line === "up").length === AT_ONCE);
    emulator.endpoints.delete(id);
    await until(
      () => lines().filter(({ line }) => /was ended by|ended with|before it was/.test(line)).length === AT_ONCE,
    );
    ups += AT_ONCE;
  }
  await emulator.stop();
  await until(() => processesWith("MARK", mark).length === 0);
}, 1_800_000);

test(`${ROUNDS_OF_KILLS} emulators that are killed at any moment leave no process behind`, async () => {
  const emulatorModule = path.resolve(__dirname, "../../dist/emulator");
  const mark = `killed-${process.pid}`;
  const program = { ...PROTOCOL_WORKER, env: { MARK: mark } };
  const seed = { endpoints: [{ name: "worker", gpuIds: "ADA_24", templateId: "t", workersMin: 4, workersMax: 4 }] };
  const options = JSON.stringify({ handlers: { worker: program }, seed });
  const script = `require(${JSON.stringify(emulatorModule)}).startEmulator(${options}).then(() => console.log("up"));`;
  for (let round = 0; round < ROUNDS_OF_KILLS; round += 1) {
    const child: ChildProcess = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout as NodeJS.ReadableStream, "data");
    await sleep((round * 1000) / ROUNDS_OF_KILLS);
    child.kill("SIGKILL");
    await once(child, "exit");
    await until(() => processesWith("MARK", mark).length === 0);
  }
}, 1_800_000);
