import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { systemReason } from "../io/systemReason";
import type { EmulatorClock } from "../time/virtualClock";
import type { Backoff } from "./backoff";
import { delayedProcess } from "./delayedProcess";
import { type WorkerIdentity, workerEnvironment } from "./environment";
import { type GroupProcess, startGroupProcess } from "./groupProcess";
import type { WorkerProgram } from "./program";
import { createProgramWorker, type ProgramWorker, type ProgramWorkerCalls, type WorkerEvents } from "./programWorker";

/** A line that a worker printed, or a message of the emulator about the worker's process. */
export interface WorkerOutput {
  /** Id of the worker's endpoint. */
  readonly endpointId: string;
  /** The id of the worker. */
  readonly workerId: string;
  /** Where the line comes from. `emulator` reports the start and end of the process. */
  readonly stream: "stdout" | "stderr" | "emulator";
  /** The line without its line break. Lines longer than 8,192 characters are split. */
  readonly line: string;
}

/** The parts of the host that a launch needs. */
export interface LaunchContext {
  readonly clock: EmulatorClock;
  readonly backoff: Backoff;
  /** Returns the emulator's URL. Called at launch. */
  url(): string;
  /** Returns an existing folder for the workers' home folders. */
  folder(): string;
  onOutput(output: WorkerOutput): void;
  onEnd(workerId: string): void;
}

interface Launch {
  readonly token: string;
  readonly programWorker: ProgramWorker;
  readonly calls: ProgramWorkerCalls;
  /** Starts the process, after a pause if previous starts failed. */
  launch(): void;
}

/** The default time between SIGTERM and SIGKILL, in milliseconds. */
export const STOP_MS = 10_000;
/**
 * How long a worker may take to ask for a job, in seconds, unless its environment sets another
 * value. This is the service's own default.
 */
const INIT_TIMEOUT_S = 420;

/** A process that could not be started. */
export const NO_PROCESS: GroupProcess = { stop() {}, kill() {}, freeze() {} };

/** Prepares a worker with a program. */
export function launchWorker(
  program: WorkerProgram,
  worker: WorkerIdentity,
  templateEnv: Readonly<Record<string, string>>,
  events: WorkerEvents,
  { clock, backoff, url, folder, onOutput, onEnd }: LaunchContext,
): Launch {
  const { id: workerId, endpointId } = worker;
  const { command, cwd, stopMs = STOP_MS } = program;
  const token = randomBytes(24).toString("hex");
  const home = () => path.join(folder(), workerId);
  let hasAsked = false;
  let hasResult = false;
  let cancelInit = () => {};

  const say = (stream: WorkerOutput["stream"], line: string) => onOutput({ endpointId, workerId, stream, line });

  function end(reason: string): void {
    say("emulator", `${command}: ${reason}`);
    calls.ended();
    onEnd(workerId);
  }

  function onProcessEnd(reason: string): void {
    cancelInit();
    // A process that left the group may still write there. The rest is removed when the emulator
    // stops.
    rm(home(), { recursive: true, force: true }).catch(() => {});
    const failed = !hasResult && !process.isStopped;
    // A program that ended without sending a result will probably end the same way again.
    if (failed) backoff.failed(endpointId);
    end(failed && !hasAsked ? `${reason} before it asked for a job` : reason);
  }

  function start(): GroupProcess {
    say("emulator", `${command}: started`);
    try {
      mkdirSync(home(), { recursive: true });
      const env = workerEnvironment(worker, url(), token, home(), { ...templateEnv, ...program.env });
      const started = startGroupProcess({ command, cwd, env, stopMs, onLine: say, onEnd: onProcessEnd });
      awaitInit(started, Number(env.RUNPOD_INIT_TIMEOUT) || INIT_TIMEOUT_S);
      return started;
    } catch (error) {
      queueMicrotask(() => onProcessEnd(`cannot be started: ${systemReason(error)}`));
      return NO_PROCESS;
    }
  }

  /** Ends a process that never asks for a job, such as a program that is not a worker. */
  function awaitInit(started: GroupProcess, seconds: number): void {
    cancelInit = clock.schedule(seconds * 1000, () => {
      say("emulator", `${command}: has not asked for a job within ${seconds} s: it is ended`);
      started.kill();
    });
  }

  const process = delayedProcess(start, () => end("stopped before it was started"));
  const { worker: programWorker, calls } = createProgramWorker(program, clock, process, {
    ...events,
    onAsk() {
      hasAsked = true;
      cancelInit();
      backoff.succeeded(endpointId);
      events.onAsk();
    },
    onResult() {
      hasResult = true;
    },
  });
  return { token, programWorker, calls, launch: () => process.launchIn(backoff.delayMs(endpointId)) };
}
