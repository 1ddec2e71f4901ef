import type { EndpointRecord } from "../model/endpointFields";
import type { RuntimeContext } from "../workers/context";
import { httpHandlerFor, programFor } from "../workers/jobHandlers";
import { coldStartMs } from "../workers/runners";
import type { WorkerPod } from "../workers/worker";
import type { WorkerModel } from "../workers/workerModel";
import { functionServer } from "./functionServer";
import type { HttpServer } from "./httpServer";
import { functionWorker, processWorker, type ServerWorker, unreachableWorker } from "./serverWorker";
import { closedPort, UNREACHABLE } from "./wrongPorts";

/** The workers of a load-balancing endpoint. Their HTTP servers are functions or programs. */
export interface ServerWorkers {
  readonly model: WorkerModel;
  /** Returns a worker's server; `undefined` if it has none yet. */
  serverOf(workerId: string): HttpServer | undefined;
  /** Returns `true` for a worker of this endpoint, even after it was scaled down. */
  knows(workerId: string): boolean;
  /** Forgets a lost worker, which cannot start again. */
  forget(workerId: string): void;
}

export function createServerWorkers(record: EndpointRecord, context: RuntimeContext): ServerWorkers {
  const workers = new Map<string, ServerWorker>();
  const program = () => programFor(context.handlers, record);

  function workerOf(pod: WorkerPod): ServerWorker {
    const say = (line: string) => context.workerHost.say(pod, line);
    const closed = closedPort(pod.container);
    if (closed !== undefined) {
      say(`the port ${closed} is not exposed: add ${closed}/http to the ports`);
      return unreachableWorker(UNREACHABLE, coldStartMs(record, context), context);
    }
    const present = program();
    if (present) return processWorker(present, pod, context);
    const server = functionServer(() => httpHandlerFor(context.handlers, record), pod, context);
    return functionWorker(server, coldStartMs(record, context), say, context);
  }

  return {
    model: {
      startAtOnce: Number.POSITIVE_INFINITY,
      concurrency: 1,
      usesIdleTimeout: true,
      evaluationDelayMs: () => 0,
      program,
      runner(pod) {
        const worker = workerOf(pod);
        workers.set(pod.id, worker);
        return worker.runner;
      },
    },
    serverOf: (workerId) => workers.get(workerId)?.server(),
    knows: (workerId) => workers.has(workerId),
    forget: (workerId) => void workers.delete(workerId),
  };
}
