import { type EndpointFields, type EndpointInput, type EndpointRecord, fieldsAfter } from "../model/endpointFields";
import { randomId } from "../model/random";
import type { RuntimeContext } from "../workers/context";
import { assertAllowed, BusinessError } from "./endpointRules";
import { createRuntime, type EndpointRuntime } from "./runtime";

/** An endpoint: its stored record and its running part. */
export interface Endpoint {
  readonly record: EndpointRecord;
  readonly runtime: EndpointRuntime;
}

/** An endpoint at one moment, for lists. */
export interface EndpointView {
  readonly record: Readonly<EndpointRecord>;
  readonly pods: readonly { readonly desiredStatus: string }[];
}

/** The endpoints of the emulator's one account. */
export interface Endpoints {
  /**
   * Creates an endpoint, or changes the one with the id of the input.
   * @throws BusinessError if a rule of the service forbids it
   */
  save(input: EndpointInput): Endpoint;
  /**
   * Creates an endpoint, with the given id if there is one.
   * @throws BusinessError if a rule of the service forbids it, RangeError if the id exists
   */
  create(input: EndpointInput, id?: string): Endpoint;
  /**
   * Deletes an endpoint as `deleteEndpoint` does.
   * @throws BusinessError until `workersMin` and `workersMax` are 0 and all workers have stopped
   */
  delete(id: string): void;
  /** Returns the endpoints of `lagMs` milliseconds ago, at most `MAX_LIST_LAG_MS`, with their present pods. */
  list(lagMs?: number): readonly EndpointView[];
  /** Returns all endpoints, in order of creation. */
  all(): Endpoint[];
  find(id: string): Endpoint | undefined;
  /** Changes an endpoint without checking any rule. */
  change(id: string, patch: Partial<EndpointFields>): Endpoint;
  /** Deletes an endpoint immediately. Returns `false` if it does not exist. */
  remove(id: string): boolean;
  /** Returns the state to save for a restart, as plain JSON. */
  snapshot(): EndpointSnapshot[];
  restore(snapshot: readonly EndpointSnapshot[]): void;
  /** Stops and deletes all endpoints. */
  clear(): void;
}

export interface EndpointSnapshot {
  readonly record: EndpointRecord;
  readonly runtime: unknown;
}

export interface EndpointsOptions {
  readonly context: RuntimeContext;
  /** Ids of the templates that exist. If it is empty, every template exists. */
  readonly templates: ReadonlySet<string>;
  /** The largest sum of `workersMax` over all endpoints; `undefined` for no limit. */
  readonly workerQuota: number | undefined;
}

/** The longest lag of a list, in milliseconds. Older states are not kept. */
export const MAX_LIST_LAG_MS = 60_000;

/** The state of an endpoint before a change, for lists that lag. */
interface PastState {
  readonly at: number;
  readonly id: string;
  readonly before: EndpointRecord | undefined;
}

export function createEndpoints({ context, templates, workerQuota }: EndpointsOptions): Endpoints {
  const { clock, profile } = context;
  const endpoints = new Map<string, Endpoint>();
  const past: PastState[] = [];

  function remember(id: string, before: EndpointRecord | undefined) {
    const now = clock.monotonic();
    const firstKept = past.findIndex((state) => state.at >= now - MAX_LIST_LAG_MS);
    past.splice(0, firstKept < 0 ? past.length : firstKept);
    past.push({ at: now, id, before: before && { ...before } });
    context.changed();
  }

  function mustFind(id: string): Endpoint {
    const endpoint = endpoints.get(id);
    if (!endpoint) throw new BusinessError(`Endpoint "${id}" not found`, "save.unknown-id");
    return endpoint;
  }

  function assertQuota(workersMax: number, exceptId: string | undefined) {
    if (workerQuota === undefined) return;
    let used = 0;
    for (const { record } of endpoints.values()) if (record.id !== exceptId) used += record.workersMax;
    if (used + workersMax > workerQuota) {
      throw new BusinessError(
        `Max workers across all endpoints must not exceed your workers quota (${workerQuota}): ${used} in use, ${workersMax} asked for`,
        "save.quota",
      );
    }
  }

  function start(record: EndpointRecord, snapshot?: unknown): Endpoint {
    const endpoint = { record, runtime: createRuntime(record, context, snapshot) };
    endpoints.set(record.id, endpoint);
    return endpoint;
  }

  function change(endpoint: Endpoint, patch: Partial<EndpointFields>): Endpoint {
    remember(endpoint.record.id, endpoint.record);
    Object.assign(endpoint.record, patch);
    endpoint.record.version += 1;
    endpoint.runtime.reconcile();
    return endpoint;
  }

  function remove(id: string): boolean {
    const endpoint = endpoints.get(id);
    if (!endpoint) return false;
    remember(id, endpoint.record);
    endpoint.runtime.dispose();
    return endpoints.delete(id);
  }

  function allowedFields(current: EndpointRecord | undefined, input: EndpointInput): EndpointFields {
    const fields = fieldsAfter(current, input, profile);
    assertAllowed(fields, profile, templates);
    if (fields.workersMax > (current?.workersMax ?? 0)) assertQuota(fields.workersMax, current?.id);
    return fields;
  }

  function create(input: EndpointInput, wantedId?: string): Endpoint {
    if (wantedId !== undefined && endpoints.has(wantedId)) {
      throw new RangeError(`An endpoint with the id "${wantedId}" already exists.`);
    }
    const fields = allowedFields(undefined, input);
    let id = wantedId ?? randomId(context.random);
    while (endpoints.has(id)) id = randomId(context.random);
    remember(id, undefined);
    return start({ ...fields, id, createdAt: clock.now(), version: 0 });
  }

  return {
    save(input) {
      if (input.id == null) return create(input);
      const current = mustFind(input.id);
      return change(current, allowedFields(current.record, input));
    },
    create,

    delete(id) {
      const { record, runtime } = mustFind(id);
      if (record.workersMin !== 0 || record.workersMax !== 0) {
        throw new BusinessError(
          "Endpoint workersMin and workersMax must both be 0 before it is deleted",
          "delete.workers-not-zero",
        );
      }
      const left = runtime.pods().filter((pod) => pod.desiredStatus === "RUNNING").length;
      if (left > 0)
        throw new BusinessError(
          `Endpoint still has ${left} running workers: try again when they have stopped`,
          "delete.draining",
        );
      remove(id);
    },

    list(lagMs = 0) {
      const records = new Map<string, EndpointRecord>();
      for (const { record } of endpoints.values()) records.set(record.id, record);
      const asOf = clock.monotonic() - lagMs;
      for (let i = past.length - 1; i >= 0 && (past[i] as PastState).at > asOf; i--) {
        const { id, before } = past[i] as PastState;
        if (before) records.set(id, before);
        else records.delete(id);
      }
      return [...records.values()].map((record) => ({ record, pods: endpoints.get(record.id)?.runtime.pods() ?? [] }));
    },

    all: () => [...endpoints.values()],
    find: (id) => endpoints.get(id),
    change: (id, patch) => change(mustFind(id), patch),
    remove,
    snapshot: () =>
      [...endpoints.values()].map(({ record, runtime }) => ({ record: { ...record }, runtime: runtime.snapshot() })),
    restore(snapshot) {
      for (const { record, runtime } of snapshot) start({ ...record }, runtime);
    },
    clear() {
      for (const { runtime } of endpoints.values()) runtime.dispose();
      endpoints.clear();
      past.length = 0;
    },
  };
}
