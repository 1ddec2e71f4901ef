import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import type { EmulatorClock } from "../time/virtualClock";
import type { Backoff } from "./backoff";
import { type WorkerIdentity, workerEnvironment } from "./environment";
import { startGroupProcess } from "./groupProcess";
import { lateProcess } from "./lateProcess";
import type { WorkerProgram } from "./program";
import {
  createProgramWorker,
  type ProgramWorker,
  type ProgramWorkerCalls,
  type ProgramWorkerEvents,
} from "./programWorker";

/** A line that a worker printed, or that the emulator says about its process. */
export interface WorkerOutput {
  /** Id of the worker's endpoint. */
  readonly endpointId: string;
  /** Id of the worker. */
  readonly workerId: string;
  /** The source of the line; `emulator` for the start and the end of the process. */
  readonly stream: "stdout" | "stderr" | "emulator";
  /** The line, without its end. A line of more than 8,192 characters is split. */
  readonly line: string;
}

/** The parts of the host that a launch uses. */
export interface LaunchContext {
  readonly clock: EmulatorClock;
  readonly backoff: Backoff;
  /** Returns the URL of the emulator. Called at the launch. */
  url(): string;
  /** Returns an existing folder for the homes of workers. */
  folder(): string;
  onOutput(output: WorkerOutput): void;
  onEnd(workerId: string): void;
}

export interface Launch {
  readonly token: string;
  readonly programWorker: ProgramWorker;
  readonly calls: ProgramWorkerCalls;
  /** Starts the process, after a pause if the last ones failed to start. */
  launch(): void;
}

const STOP_MS = 10_000;

/** Prepares a worker with a program. */
export function launchWorker(
  program: WorkerProgram,
  worker: WorkerIdentity,
  templateEnv: Readonly<Record<string, string>>,
  events: ProgramWorkerEvents,
  { clock, backoff, url, folder, onOutput, onEnd }: LaunchContext,
): Launch {
  const { id: workerId, endpointId } = worker;
  const { command, cwd, stopMs = STOP_MS } = program;
  const token = randomBytes(24).toString("hex");
  const home = () => path.join(folder(), workerId);
  let hasAsked = false;

  const say = (stream: WorkerOutput["stream"], line: string) => onOutput({ endpointId, workerId, stream, line });

  function end(reason: string): void {
    say("emulator", `${command}: ${reason}`);
    calls.ended();
    onEnd(workerId);
  }

  function onProcessEnd(reason: string): void {
    rmSync(home(), { recursive: true, force: true, maxRetries: 3 });
    const failed = !hasAsked && !process.isStopped;
    // A program that ends before it asks for a job will probably do so again.
    if (failed) backoff.failed(endpointId);
    end(failed ? `${reason} before it asked for a job` : reason);
  }

  function start() {
    mkdirSync(home(), { recursive: true });
    const env = workerEnvironment(worker, url(), token, home(), { ...templateEnv, ...program.env });
    say("emulator", `${command}: started`);
    return startGroupProcess({ command, cwd, env, stopMs, onLine: say, onEnd: onProcessEnd });
  }

  const process = lateProcess(start, () => end("stopped before it was started"));
  const { worker: programWorker, calls } = createProgramWorker(program, clock, process, {
    ...events,
    onAsk() {
      hasAsked = true;
      backoff.succeeded(endpointId);
      events.onAsk();
    },
  });
  return { token, programWorker, calls, launch: () => process.launchIn(backoff.delayMs(endpointId)) };
}
