import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Emulator, type EmulatorOptions, startEmulator, type WorkerProgram } from "../../emulator";
import { type Answer, send } from "./plainClient";

type EndpointInput = Parameters<Emulator["endpoints"]["create"]>[0];

/** The worker for tests: a program in Node.js that does what its jobs say. */
export const PROTOCOL_WORKER: WorkerProgram = {
  command: `'${process.execPath}' protocolWorker.js`,
  cwd: path.join(__dirname, "workers"),
};

/** An emulator on the machine's clock, with one endpoint whose workers are a program. */
export interface RealWorkers {
  readonly emulator: Emulator;
  readonly endpointId: string;
  /** Submits a job and resolves with its record when it has ended. */
  runSync(input: object, more?: object): Promise<Answer["body"]>;
  /** Submits a job and returns its id. */
  run(input: object, more?: object): Promise<string>;
  job(id: string): Promise<Answer["body"]>;
  post(path: string, body?: object): Promise<Answer["body"]>;
  get(path: string): Promise<Answer["body"]>;
  /** Returns the lines that the workers printed, and the starts and ends of their processes. */
  output(stream?: "stdout" | "stderr" | "emulator"): string[];
}

const open: Emulator[] = [];

/** Stops all emulators. Must be called after each test. */
export async function stopRealWorkers(): Promise<void> {
  for (const emulator of open.splice(0)) await emulator.stop();
}

export async function startRealWorkers(
  program: WorkerProgram = PROTOCOL_WORKER,
  endpoint: Partial<EndpointInput> = {},
  options: EmulatorOptions = {},
): Promise<RealWorkers> {
  const emulator = await startEmulator({
    profile: "contract",
    rateLimits: { limits: "off" },
    handlers: { worker: program },
    ...options,
  });
  open.push(emulator);
  const required = { name: "worker", gpuIds: "ADA_24", templateId: "template-1" };
  const { id: endpointId } = emulator.endpoints.create({ ...required, workersMax: 1, idleTimeout: 60, ...endpoint });
  const headers = { authorization: emulator.apiKey, "content-type": "application/json" };
  const url = (path: string) => `${emulator.url}/v2/${endpointId}/${path}`;
  const get = async (path: string) => (await send(url(path), { headers })).body;
  const post = async (path: string, body: object = {}) =>
    (await send(url(path), { method: "POST", headers, body: JSON.stringify(body) })).body;
  return {
    emulator,
    endpointId,
    runSync: (input, more) => post("runsync", { input, ...more }),
    run: async (input, more) => (await post("run", { input, ...more })).id,
    job: (id) => get(`status/${id}`),
    post,
    get,
    output: (stream) => emulator.journal.workerOutput(stream && { stream }).map(({ line }) => line),
  };
}

/** Resolves when `isTrue` returns `true`. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await sleep(20);
}

/**
 * Returns the ids of the processes whose environment has the variable `name` with the value. Linux
 * only.
 */
export function processesWith(name: string, value: string): number[] {
  const wanted = `${name}=${value}`;
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => environmentOf(pid).includes(wanted))
    .map(Number);
}

function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    // The process has ended, or belongs to another user.
    return [];
  }
}
