import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { EmulatorClock } from "../time/virtualClock";
import { createBackoff } from "./backoff";
import type { WorkerIdentity } from "./environment";
import { launchServer, type ServerEvents, type ServerProcess } from "./launchServer";
import { type LaunchContext, launchWorker, type WorkerOutput } from "./launchWorker";
import type { WorkerProgram } from "./program";
import type { ProgramWorker, ProgramWorkerCalls, WorkerEvents } from "./programWorker";

/** Starts worker programs and keeps track of them. */
export interface WorkerHost {
  /**
   * Starts a worker's program as soon as the emulator is listening.
   * @param templateEnv the template's environment variables. Those of the program take precedence.
   */
  start(
    program: WorkerProgram,
    worker: WorkerIdentity,
    templateEnv: Readonly<Record<string, string>>,
    events: WorkerEvents,
  ): ProgramWorker;
  /** Like `start`, for a program that is an HTTP server. It needs no key. */
  startServer(
    program: WorkerProgram,
    worker: WorkerIdentity,
    templateEnv: Readonly<Record<string, string>>,
    events: ServerEvents,
  ): ServerProcess;
  /** Adds a line to a worker's output. */
  say(worker: WorkerIdentity, line: string): void;
  /** Returns a worker, if `key` is that worker's key. */
  find(endpointId: string, workerId: string, key: string | undefined): ProgramWorkerCalls | undefined;
  /** Must be called once, when workers can reach the emulator. */
  listening(url: string): void;
  /** Resolves when all processes have ended. They must have been stopped first. */
  ended(): Promise<void>;
}

interface Running {
  readonly endpointId: string;
  /** Unset for a worker that takes no jobs. */
  readonly token?: string;
  readonly calls?: ProgramWorkerCalls;
}

/** @param onOutput called with each line of a worker */
export function createWorkerHost(clock: EmulatorClock, onOutput: (output: WorkerOutput) => void): WorkerHost {
  const running = new Map<string, Running>();
  const launches: (() => void)[] = [];
  let folder: string | undefined;
  let url: string | undefined;
  let onLastEnd = () => {};

  const context: LaunchContext = {
    clock,
    onOutput,
    backoff: createBackoff(),
    url: () => url ?? "",
    folder() {
      folder ??= mkdtempSync(path.join(tmpdir(), "serverless-gpu-workers-"));
      return folder;
    },
    onEnd(workerId) {
      running.delete(workerId);
      if (running.size === 0) onLastEnd();
    },
  };

  function add(worker: WorkerIdentity, more: Omit<Running, "endpointId">, launch: () => void): void {
    running.set(worker.id, { endpointId: worker.endpointId, ...more });
    if (url === undefined) launches.push(launch);
    else launch();
  }

  return {
    start(program, worker, templateEnv, events) {
      const { token, programWorker, calls, launch } = launchWorker(program, worker, templateEnv, events, context);
      add(worker, { token, calls }, launch);
      return programWorker;
    },
    startServer(program, worker, templateEnv, events) {
      const server = launchServer(program, worker, templateEnv, events, context);
      add(worker, {}, server.launch);
      return server;
    },
    say: ({ id, endpointId }, line) => onOutput({ endpointId, workerId: id, stream: "emulator", line }),
    find(endpointId, workerId, key) {
      const worker = running.get(workerId);
      return worker?.endpointId === endpointId && key !== undefined && worker.token === key ? worker.calls : undefined;
    },
    listening(listeningUrl) {
      url = listeningUrl;
      for (const launch of launches.splice(0)) launch();
    },
    async ended() {
      if (running.size > 0) {
        await new Promise<void>((resolve) => {
          onLastEnd = resolve;
        });
      }
      // A process that left its group may still write there.
      if (folder !== undefined) await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
    },
  };
}
