import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startEmulator } from "../../emulator";
import { PROTOCOL_WORKER, processesWith } from "../support/realWorkers";

/**
 * The number of processes that start and stop. A worker that is a shell takes 10 ms, one in Node.js
 * 100 ms.
 */
const CYCLES = Number(process.env.WORKER_CYCLES ?? 2000);
const AT_ONCE = 8;
const ROUNDS_OF_KILLS = Number(process.env.WORKER_KILLS ?? 20);

/**
 * Much longer than any step takes. A step that does not end fails under its own name, not by the
 * test's time limit.
 */
const STEP_LIMIT_MS = 120_000;

/** Resolves when `left` returns 0. */
async function untilNone(what: string, left: () => number): Promise<void> {
  const startedAt = performance.now();
  for (let count = left(); count > 0; count = left()) {
    if (performance.now() - startedAt > STEP_LIMIT_MS) throw new Error(`${count} left after 120 s: ${what}`);
    await sleep(20);
  }
}

/** Prints that it runs, leaves a second process in its group, and ignores no signal. */
const SHELL_WORKER = "sleep 300 & echo up; exec sleep 300";

test(`${CYCLES} starts and stops of workers leave no process and no folder behind`, async () => {
  const mark = `campaign-${process.pid}`;
  const handlers = { worker: { command: SHELL_WORKER, env: { MARK: mark } } };
  const emulator = await startEmulator({ profile: "contract", handlers, drainMs: 0 });
  let ups = 0;
  for (let round = 0; ups < CYCLES; round += 1) {
    const { id } = emulator.endpoints.create({
      id: `e${round}`,
      name: "worker",
      gpuIds: "ADA_24",
      templateId: "t",
      workersMin: AT_ONCE,
      workersMax: AT_ONCE,
    });
    const lines = () => emulator.journal.workerOutput({ endpointId: id });
    // In half of the rounds the processes are ended while they start.
    const missing = (line: RegExp) => AT_ONCE - lines().filter((each) => line.test(each.line)).length;
    if (round % 2 === 0) await untilNone(`starts of round ${round}`, () => missing(/^up$/));
    emulator.endpoints.delete(id);
    await untilNone(`ends of round ${round}`, () => missing(/was ended by|ended with|before it was/));
    ups += AT_ONCE;
  }
  await emulator.stop();
  await untilNone("processes", () => processesWith("MARK", mark).length);
}, 1_800_000);

test(`${ROUNDS_OF_KILLS} emulators that are killed at random moments leave no process behind`, async () => {
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
    await untilNone(`processes of kill ${round}`, () => processesWith("MARK", mark).length);
  }
}, 1_800_000);
