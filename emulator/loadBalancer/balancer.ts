import { LOAD_BALANCER_MS } from "../../sdk/contract/limits";
import type { HttpResponse } from "../io/http";
import type { EndpointRecord } from "../model/endpointFields";
import type { RuntimeContext } from "../workers/context";
import { workersWanted } from "../workers/scaling";
import type { Scheduler } from "../workers/scheduler";
import { shownState, type Worker } from "../workers/worker";
import { createWorkerPool, type WorkerPool } from "../workers/workerPool";
import { type Affinity, affinityOf, isStrict } from "./affinity";
import * as answers from "./answers";
import type { HttpServer, PassedRequest } from "./httpServer";
import { type OpenRequest, openRequest } from "./openRequest";
import { createServerWorkers, type ServerWorkers } from "./serverWorkers";

/**
 * Distributes requests among an endpoint's workers and scales the workers. A load balancer has no
 * jobs.
 */
export interface Balancer extends Scheduler {
  /** Resolves with a worker's response or the load balancer's own. Never rejects. */
  serve(request: PassedRequest, client: AbortSignal): Promise<HttpResponse>;
}

/** A request that is waiting for a worker. */
interface Held {
  readonly since: number;
  readonly affinity: Affinity;
  /**
   * Ends the wait with a worker, with the load balancer's own response, or without either because
   * the client has left.
   */
  settle(outcome: Worker | HttpResponse | undefined): void;
}

interface BalancerState {
  readonly record: EndpointRecord;
  readonly context: RuntimeContext;
  readonly servers: ServerWorkers;
  readonly pool: WorkerPool;
  /** The waiting requests, in order of arrival. */
  readonly held: Set<Held>;
  readonly open: Map<OpenRequest, Worker>;
}

export function createBalancer(record: EndpointRecord, context: RuntimeContext): Balancer {
  const servers = createServerWorkers(record, context);
  const pool = createWorkerPool(record, context, servers.model, () => dispatch(state));
  const state: BalancerState = { record, context, servers, pool, held: new Set(), open: new Map() };
  return {
    get waiting() {
      return state.held.size;
    },
    get oldestQueuedAt() {
      const [first] = state.held;
      return first?.since;
    },
    get running() {
      return state.open.size;
    },
    workers: pool,
    workerViews: () =>
      pool.all().map((worker) => {
        const { id, startedAt, slsVersion } = worker.pod;
        return { id, state: shownState(worker), phase: worker.state, since: worker.since, startedAt, slsVersion };
      }),
    demand: () => demandOf(state),
    kill: (workerId) => kill(state, workerId),
    enqueue: () => undefined,
    withdraw() {},
    withdrawWaiting: () => [],
    dispatch: () => dispatch(state),
    reconcile() {
      pool.shrinkToRecord();
      dispatch(state);
    },
    rollOut() {
      pool.rollOut();
      dispatch(state);
    },
    dispose() {
      for (const held of [...state.held]) held.settle(answers.unknownEndpoint());
      for (const open of [...state.open.keys()]) open.lose();
      pool.dispose();
    },
    async serve(request, client) {
      const worker = await workerFor(state, affinityOf(request), client);
      if (worker === undefined) return answers.noWorker();
      return "status" in worker ? worker : passOn(state, worker, request, client);
    },
  };
}

function demandOf({ held, open }: BalancerState) {
  return { waiting: held.size, overdue: 0, inProgress: open.size };
}

/** Waits for a worker. Resolves with the load balancer's own response if the wait times out. */
function workerFor(state: BalancerState, affinity: Affinity, client: AbortSignal) {
  const { clock } = state.context;
  const strict = isStrict(affinity);
  return new Promise<Worker | HttpResponse | undefined>((resolve) => {
    const holdMs = strict ? LOAD_BALANCER_MS.strictHold : LOAD_BALANCER_MS.hold;
    const cancel = clock.schedule(
      holdMs,
      () => held.settle(strict ? answers.workerTimeout() : answers.noWorker()),
      true,
    );
    const leave = () => held.settle(undefined);
    const held: Held = {
      since: clock.now(),
      affinity,
      settle(outcome) {
        cancel();
        client.removeEventListener("abort", leave);
        state.held.delete(held);
        resolve(outcome);
        if (!outcome || "status" in outcome) dispatch(state);
      },
    };
    client.addEventListener("abort", leave, { once: true });
    state.held.add(held);
    dispatch(state);
  });
}

/** Assigns waiting requests to workers, and scales the workers. */
function dispatch(state: BalancerState): void {
  const { pool, held } = state;
  for (const each of [...held]) {
    const outcome = choose(state, each.affinity);
    if (!outcome) continue;
    // Reserve the worker synchronously, so that the next request sees it as busier.
    if (!("status" in outcome)) pool.reserve(outcome);
    each.settle(outcome);
  }
  scale(state);
}

/** Scales by the number of open and waiting requests. */
function scale(state: BalancerState): void {
  const { record, context, pool } = state;
  // GraphQL also stores QUEUE_DELAY for a load-balancing endpoint, although it has no queue.
  pool.scaleTo(workersWanted({ ...record, scalerType: "REQUEST_COUNT" }, demandOf(state)));
  context.watch.endpoint(record.id);
}

/**
 * Returns the worker for a request, a response that refuses the request, or `undefined` if the
 * request must wait.
 */
function choose(state: BalancerState, affinity: Affinity): Worker | HttpResponse | undefined {
  const { pool, servers } = state;
  const all = pool.all().filter(({ draining }) => !draining);
  const ready = all.filter(({ state, runner }) => (state === "idle" || state === "running") && runner.hasRoom);
  const named = affinity.mode === "any" ? undefined : ready.find(({ pod }) => pod.id === affinity.workerId);
  if (named) return named;
  if (!isStrict(affinity)) return leastBusy(ready);
  if (all.some(({ pod }) => pod.id === affinity.workerId)) return undefined;
  if (affinity.mode === "strict" || !servers.knows(affinity.workerId)) return answers.workerGone();
  // If there is no capacity, the request waits and tries again later.
  pool.resume(affinity.workerId);
  return undefined;
}

function leastBusy(workers: readonly Worker[]): Worker | undefined {
  return workers.reduce<Worker | undefined>(
    (least, each) => (least && least.jobs <= each.jobs ? least : each),
    undefined,
  );
}

/** The server of a worker that a fault rule makes hang. */
const HANGING: HttpServer = { respond: () => new Promise(() => {}), ping: () => new Promise(() => {}) };

/** Forwards a request to the worker that is reserved for it. */
function passOn(
  state: BalancerState,
  worker: Worker,
  request: PassedRequest,
  client: AbortSignal,
): Promise<HttpResponse> {
  const { context, pool, servers, open } = state;
  const { id } = worker.pod;
  const fault = context.workerFaults.atJob(state.record.id);
  const server = fault === "hang" ? HANGING : servers.serverOf(id);
  const opened = openRequest(context.clock, server, id, request, client, () => {
    open.delete(opened);
    pool.release(worker);
    dispatch(state);
  });
  open.set(opened, worker);
  scale(state);
  if (fault === "die") kill(state, id);
  return opened.response;
}

function kill(state: BalancerState, workerId: string): boolean {
  const { pool, open, servers } = state;
  const worker = pool.all().find(({ pod }) => pod.id === workerId);
  if (!worker) return false;
  servers.forget(workerId);
  // When a process ends, its connections end too.
  if (worker.runner.kill()) return true;
  for (const [each, its] of [...open]) if (its === worker) each.lose();
  pool.remove(worker);
  dispatch(state);
  return true;
}
