import type { WorkerProgram } from "../programs/program";
import type { RuntimeContext } from "../workers/context";
import { WITHOUT_PROCESS } from "../workers/runners";
import { noTimer, type WorkerPod, type WorkerRunner } from "../workers/worker";
import { type HealthChecks, startHealthChecks } from "./healthChecks";
import type { HttpServer } from "./httpServer";
import { processServer } from "./processServer";
import { endWithWrongPorts } from "./wrongPorts";

/** The worker events that its pool follows. */
type Events = Parameters<WorkerRunner["start"]>[1];

/** Runs a worker's HTTP server. */
export interface ServerWorker {
  readonly runner: WorkerRunner;
  /** Returns the server; `undefined` while it is not available. */
  server(): HttpServer | undefined;
}

/** The parts of a runner that all workers with an HTTP server share. */
const SERVER: Pick<WorkerRunner, "concurrency" | "restMs" | "run"> = {
  // The worker accepts every request that the load balancer assigns to it.
  concurrency: Number.POSITIVE_INFINITY,
  restMs: () => 0,
  run() {
    throw new Error("A load-balancing endpoint has no jobs.");
  },
};

/**
 * Creates a worker whose server is a function. It is ready after the cold start, once its health
 * check succeeds.
 */
export function functionWorker(
  server: HttpServer,
  coldStartMs: number,
  say: Say,
  context: RuntimeContext,
): ServerWorker {
  let health: HealthChecks | undefined;
  const runner: WorkerRunner = {
    ...WITHOUT_PROCESS,
    ...SERVER,
    get hasRoom() {
      return health?.isHealthy ?? false;
    },
    start(imagePullMs, events) {
      return context.clock.schedule(imagePullMs + coldStartMs, () => {
        health = follow(server, events, say, context);
      });
    },
    stop: () => health?.stop(),
  };
  return { runner, server: () => server };
}

/**
 * Creates a worker whose ports the service cannot reach. Its requests fail, and it ends after a
 * while.
 */
export function unreachableWorker(server: HttpServer, coldStartMs: number, context: RuntimeContext): ServerWorker {
  let cancelEnd = noTimer;
  const runner: WorkerRunner = {
    ...WITHOUT_PROCESS,
    ...SERVER,
    start(imagePullMs, { onAsk, onRetire }) {
      return context.clock.schedule(imagePullMs + coldStartMs, () => {
        onAsk();
        cancelEnd = endWithWrongPorts(context.clock, onRetire);
      });
    },
    stop: () => cancelEnd(),
  };
  return { runner, server: () => server };
}

/** Creates a worker whose server is a process. */
export function processWorker(program: WorkerProgram, pod: WorkerPod, context: RuntimeContext): ServerWorker {
  let process: ReturnType<RuntimeContext["workerHost"]["startServer"]> | undefined;
  let server: HttpServer | undefined;
  let health: HealthChecks | undefined;

  function launch({ onAsk, onRetire, onEnd }: Events): void {
    const env = context.environments.of(pod);
    process = context.workerHost.startServer(program, pod, env, {
      onStart(ports) {
        server = processServer(ports, program.env?.HEALTH_CHECK_PATH ?? env.HEALTH_CHECK_PATH);
        const ask = () => {
          process?.isHealthy();
          onAsk();
        };
        health = follow(server, { onAsk: ask, onRetire, onEnd }, (line) => process?.say(line), context);
      },
      onEnd() {
        health?.stop();
        onEnd();
      },
    });
  }

  const runner: WorkerRunner = {
    ...SERVER,
    program,
    get hasProcess() {
      return process !== undefined;
    },
    get hasRoom() {
      return health?.isHealthy ?? false;
    },
    start(imagePullMs, events) {
      if (imagePullMs > 0) return context.clock.schedule(imagePullMs, () => launch(events));
      launch(events);
      return noTimer;
    },
    stop() {
      process?.stop();
    },
    kill() {
      process?.kill();
      return process !== undefined;
    },
  };
  return { runner, server: () => server };
}

/** Adds a line to a worker's output. */
type Say = (line: string) => void;

/** Lets a worker accept requests whenever its health check succeeds. */
function follow(server: HttpServer, { onAsk }: Events, say: Say, { clock }: RuntimeContext): HealthChecks {
  return startHealthChecks(clock, server, (health, reason) => {
    say(`${reason}: the worker is ${health === "starting" ? "still starting" : health}`);
    if (health === "healthy") onAsk();
  });
}
