import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { systemReason } from "../io/systemReason";
import { delayedProcess } from "./delayedProcess";
import { serverEnvironment, type WorkerIdentity } from "./environment";
import { freePorts } from "./freePorts";
import { type GroupProcess, startGroupProcess } from "./groupProcess";
import { type LaunchContext, NO_PROCESS, STOP_MS, type WorkerOutput } from "./launchWorker";
import type { WorkerProgram } from "./program";
import type { WorkerProcess } from "./programWorker";

/** The ports of a worker's HTTP server. */
export interface ServerPorts {
  readonly port: number;
  /** The port of health checks. */
  readonly healthPort: number;
}

export interface ServerEvents {
  /** Called when the process has been started. It may not be listening yet. */
  onStart(ports: ServerPorts): void;
  /** Called once, when the process has ended. */
  onEnd(): void;
}

/** A worker process that runs an HTTP server. */
export interface ServerProcess extends WorkerProcess {
  /** Adds a line to the worker's output. */
  say(line: string): void;
  /** Must be called when a health check has succeeded. */
  isHealthy(): void;
}

/** Prepares a worker whose program is an HTTP server. */
export function launchServer(
  program: WorkerProgram,
  worker: WorkerIdentity,
  templateEnv: Readonly<Record<string, string>>,
  events: ServerEvents,
  { backoff, folder, onOutput, onEnd }: LaunchContext,
): ServerProcess & { launch(): void } {
  const { id: workerId, endpointId } = worker;
  const { command, cwd, stopMs = STOP_MS } = program;
  const own = { ...templateEnv, ...program.env };
  const home = () => path.join(folder(), workerId);
  let wasHealthy = false;

  const say = (stream: WorkerOutput["stream"], line: string) => onOutput({ endpointId, workerId, stream, line });

  function end(reason: string): void {
    say("emulator", `${command}: ${reason}`);
    events.onEnd();
    onEnd(workerId);
  }

  function onProcessEnd(reason: string): void {
    rm(home(), { recursive: true, force: true }).catch(() => {});
    const failed = !wasHealthy && !process.isStopped;
    if (failed) backoff.failed(endpointId);
    end(failed ? `${reason} before it was healthy` : reason);
  }

  function start(ports: ServerPorts): GroupProcess {
    say("emulator", `${command}: started`);
    try {
      mkdirSync(home(), { recursive: true });
      const env = serverEnvironment(worker, home(), own, ports);
      const started = startGroupProcess({ command, cwd, env, stopMs, onLine: say, onEnd: onProcessEnd });
      events.onStart(ports);
      return started;
    } catch (error) {
      queueMicrotask(() => onProcessEnd(`cannot be started: ${systemReason(error)}`));
      return NO_PROCESS;
    }
  }

  let ports: ServerPorts = { port: 0, healthPort: 0 };
  const process = delayedProcess(
    () => start(ports),
    () => end("stopped before it was started"),
  );

  /** The emulator chooses the ports, because all workers share one machine. */
  async function launch(): Promise<void> {
    const hasOwnHealthPort = own.PORT_HEALTH !== undefined && own.PORT_HEALTH !== own.PORT;
    const [port = 0, healthPort = port] = await freePorts(hasOwnHealthPort ? 2 : 1);
    ports = { port, healthPort };
    process.launchIn(backoff.delayMs(endpointId));
  }

  return {
    stop: process.stop,
    kill: process.kill,
    freeze: process.freeze,
    say: (line) => say("emulator", `${command}: ${line}`),
    isHealthy() {
      wasHealthy = true;
      backoff.succeeded(endpointId);
    },
    launch: () => void launch().catch((error: unknown) => onProcessEnd(`cannot be started: ${systemReason(error)}`)),
  };
}
