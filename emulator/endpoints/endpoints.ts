import { SAVE_ENDPOINT_DEFAULTS } from "../../sdk/contract/limits";
import type { EndpointRecord } from "../model/endpointFields";
import type { RuntimeContext } from "../workers/context";
import { assertAllowed, BusinessError, type EndpointFields, type EndpointInput, overlay } from "./endpointRules";
import { createRuntime, type EndpointRuntime } from "./runtime";

/** An endpoint: what the account keeps of it, and what runs. */
export interface Endpoint {
  readonly record: EndpointRecord;
  readonly runtime: EndpointRuntime;
}

/** What an endpoint is at one moment, for lists. */
export interface EndpointView {
  readonly record: Readonly<EndpointRecord>;
  readonly pods: readonly { readonly desiredStatus: string }[];
}

/** The endpoints of the emulator's one account. */
export interface Endpoints {
  /** Creates, or changes when the input has an id. Throws a business error when a rule forbids it. */
  save(input: EndpointInput): Endpoint;
  /** Creates an endpoint by the same rules, with an id of one's choice. Throws a RangeError when that is taken. */
  create(input: EndpointInput, id?: string): Endpoint;
  /** Deletes as `deleteEndpoint` does: refused until both worker counts are 0 and all workers have left. */
  delete(id: string): void;
  /** All endpoints as they were `lagMs` milliseconds ago, at most `MAX_LIST_LAG_MS`; their pods as they are now. */
  list(lagMs?: number): readonly EndpointView[];
  /** All endpoints, in order of creation. */
  all(): Endpoint[];
  find(id: string): Endpoint | undefined;
  /** Changes an endpoint without asking any rule, as the service itself or another user would. */
  change(id: string, patch: Partial<EndpointFields>): Endpoint;
  /** Deletes an endpoint at once, whatever its workers do. Returns false when there is none. */
  remove(id: string): boolean;
  /** Everything that must survive a restart, as plain JSON. */
  snapshot(): EndpointSnapshot[];
  restore(snapshot: readonly EndpointSnapshot[]): void;
  /** Stops and forgets everything. */
  clear(): void;
}

export interface EndpointSnapshot {
  readonly record: EndpointRecord;
  readonly runtime: unknown;
}

export interface EndpointsOptions {
  readonly context: RuntimeContext;
  /** Ids of the templates that exist; when empty, every template does. */
  readonly templates: ReadonlySet<string>;
  /** Largest sum of `workersMax` over all endpoints; undefined for no limit. */
  readonly workerQuota: number | undefined;
}

/** Lists can lag at most this far behind, in milliseconds: older states are forgotten. */
export const MAX_LIST_LAG_MS = 60_000;

/** A change, kept for lists that lag: what the endpoint was before it. */
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
    const fields = overlay(current, input, profile);
    assertAllowed(fields, profile, templates);
    if (fields.workersMax > (current?.workersMax ?? 0)) assertQuota(fields.workersMax, current?.id);
    return fields;
  }

  function create(input: EndpointInput, wantedId?: string): Endpoint {
    if (wantedId !== undefined && endpoints.has(wantedId)) {
      throw new RangeError(`There is an endpoint with the id "${wantedId}" already.`);
    }
    const fields = allowedFields(undefined, input);
    const id = wantedId ?? newId(context.random, endpoints);
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

/** The fields that `saveEndpoint` fills in when they are left out (observed). */
export function withDefaults(
  input: Partial<EndpointInput> & Pick<EndpointInput, "name" | "gpuIds" | "templateId">,
): EndpointInput {
  const { idleTimeout, scalerValue, workersMax, workersMin } = SAVE_ENDPOINT_DEFAULTS;
  return {
    ...input,
    idleTimeout: input.idleTimeout ?? idleTimeout,
    scalerValue: input.scalerValue ?? scalerValue,
    workersMax: input.workersMax ?? workersMax,
    workersMin: input.workersMin ?? workersMin,
  };
}

const ID_LENGTH = 14;

function newId(random: () => number, taken: ReadonlyMap<string, unknown>): string {
  const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz";
  let id: string;
  do {
    id = Array.from({ length: ID_LENGTH }, () => alphabet[Math.floor(random() * alphabet.length)]).join("");
  } while (taken.has(id));
  return id;
}
