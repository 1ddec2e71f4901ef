import { BusinessError } from "../model/businessError";
import {
  ENDPOINT_FIELDS,
  type EndpointContainer,
  type EndpointFields,
  type EndpointInput,
  type EndpointRecord,
} from "../model/endpointFields";
import { fieldsAfter } from "../model/fieldTable";
import { type ObservedFields, observedFieldsAfter, UNSET_OBSERVED_FIELDS } from "../model/observedFields";
import { randomId } from "../model/random";
import { createHistory } from "../records/history";
import type { RuntimeContext } from "../workers/context";
import { assertAllowed, type References } from "./endpointRules";
import { createRuntime, type EndpointRuntime } from "./runtime";

/** An endpoint: its stored record and its running part. */
export interface Endpoint {
  readonly record: EndpointRecord;
  readonly runtime: EndpointRuntime;
}

/** The parts of an endpoint that its fields do not hold. */
export interface OwnParts {
  /** The container of its own. @default that of the template */
  readonly container?: EndpointContainer | null;
  /** The fields that only the observed service has. @default as they were */
  readonly observed?: Partial<ObservedFields> | undefined;
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
  save(input: EndpointInput, own: Pick<OwnParts, "observed">): Endpoint;
  /**
   * Creates an endpoint, with the given id if there is one.
   * @throws BusinessError if a rule of the service forbids it, RangeError if the id exists
   */
  create(input: EndpointInput, id?: string, own?: OwnParts): Endpoint;
  /**
   * Changes some fields of an endpoint as REST v2 does: all others keep their value.
   * @throws BusinessError if a rule of the service forbids it
   */
  patch(id: string, fields: Partial<EndpointFields>, own: OwnParts): Endpoint;
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
  /** Gives the workers of all endpoints with this template its present version. */
  rollOut(templateId: string): void;
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
  /** The things that endpoints refer to. */
  readonly references: References;
  /** Returns the largest sum of `workersMax` over all endpoints; `undefined` for no limit. */
  readonly workerQuota: () => number | undefined;
}

export function createEndpoints({ context, references, workerQuota }: EndpointsOptions): Endpoints {
  const { clock, profile } = context;
  const endpoints = new Map<string, Endpoint>();
  const history = createHistory<EndpointRecord>(clock);

  function remember(id: string, before: EndpointRecord | undefined) {
    history.remember(id, before);
    context.changed();
    context.watch.endpoint(id);
  }

  function mustFind(id: string): Endpoint {
    const endpoint = endpoints.get(id);
    if (!endpoint) throw new BusinessError(`Endpoint "${id}" not found`, "save.unknown-id");
    return endpoint;
  }

  function assertQuota(workersMax: number, exceptId: string | undefined) {
    const quota = workerQuota();
    if (quota === undefined) return;
    let used = 0;
    for (const { record } of endpoints.values()) if (record.id !== exceptId) used += record.workersMax;
    if (used + workersMax > quota) {
      throw new BusinessError(
        `Max workers across all endpoints must not exceed your workers quota (${quota}): ${used} in use, ${workersMax} asked for`,
        "save.quota",
      );
    }
  }

  function start(record: EndpointRecord, snapshot?: unknown): Endpoint {
    const endpoint = { record, runtime: createRuntime(record, context, snapshot) };
    endpoints.set(record.id, endpoint);
    return endpoint;
  }

  function change(
    endpoint: Endpoint,
    patch: Partial<EndpointFields>,
    { container, observed }: OwnParts = {},
  ): Endpoint {
    const { record, runtime } = endpoint;
    const { templateId, container: ownBefore = null } = record;
    remember(record.id, record);
    Object.assign(record, patch);
    if (container !== undefined && container !== ownBefore) record.container = container;
    if (observed) record.observed = observedFieldsAfter(record.observed ?? UNSET_OBSERVED_FIELDS, observed);
    record.version += 1;
    const usedTemplate = ownBefore === null;
    const usesOther = record.templateId !== templateId || (record.container ?? null) !== ownBefore;
    if (usedTemplate && usesOther) context.released(templateId);
    if (usesOther) runtime.rollOut();
    runtime.reconcile();
    return endpoint;
  }

  function remove(id: string): boolean {
    const endpoint = endpoints.get(id);
    if (!endpoint) return false;
    remember(id, endpoint.record);
    endpoint.runtime.dispose();
    if (!endpoint.record.container) context.released(endpoint.record.templateId);
    return endpoints.delete(id);
  }

  function allowedFields(
    current: EndpointRecord | undefined,
    input: EndpointInput,
    observed: Partial<ObservedFields> = current?.observed ?? {},
  ): EndpointFields {
    const fields = fieldsAfter(ENDPOINT_FIELDS, current, input, profile);
    // An endpoint with a container of its own outlives the template that it came from.
    const keepsOwn = current?.container && fields.templateId === current.templateId;
    const runsOnCpus = (observed.instanceIds ?? []).length > 0;
    assertAllowed(fields, { profile, runsOnCpus }, keepsOwn ? { ...references, assertTemplate() {} } : references);
    if (fields.workersMax > (current?.workersMax ?? 0)) assertQuota(fields.workersMax, current?.id);
    return fields;
  }

  function create(input: EndpointInput, wantedId?: string, { container = null, observed }: OwnParts = {}): Endpoint {
    if (wantedId !== undefined && endpoints.has(wantedId)) {
      throw new RangeError(`An endpoint with the id "${wantedId}" already exists.`);
    }
    const fields = allowedFields(undefined, input, observed);
    let id = wantedId ?? randomId(context.random);
    while (endpoints.has(id)) id = randomId(context.random);
    remember(id, undefined);
    return start({
      ...{ ...fields, id, createdAt: clock.now(), version: 0 },
      ...(container && { container }),
      ...(observed && { observed: observedFieldsAfter(UNSET_OBSERVED_FIELDS, observed) }),
    });
  }

  return {
    save(input, { observed }) {
      if (input.id == null) return create(input, undefined, { observed });
      const current = mustFind(input.id);
      // GraphQL knows only the link to a template.
      if (current.record.container) references.assertTemplate(input.templateId);
      return change(current, allowedFields(current.record, input, observed), { container: null, observed });
    },
    create,
    patch(id, fields, own) {
      const current = mustFind(id);
      return change(current, allowedFields(current.record, { ...current.record, ...fields }), own);
    },

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
      const present = Array.from(endpoints.values(), ({ record }) => record);
      const records = history.asOf(present, lagMs);
      return records.map((record) => ({ record, pods: endpoints.get(record.id)?.runtime.pods() ?? [] }));
    },

    all: () => [...endpoints.values()],
    find: (id) => endpoints.get(id),
    change: (id, patch) => change(mustFind(id), patch),
    rollOut(templateId) {
      for (const { record, runtime } of endpoints.values()) {
        if (record.templateId !== templateId || record.container) continue;
        remember(record.id, record);
        record.version += 1;
        runtime.rollOut();
      }
    },
    remove,
    snapshot: () =>
      [...endpoints.values()].map(({ record, runtime }) => ({ record: { ...record }, runtime: runtime.snapshot() })),
    restore(snapshot) {
      for (const { record, runtime } of snapshot) start({ ...record }, runtime);
    },
    clear() {
      for (const { runtime } of endpoints.values()) runtime.dispose();
      for (const id of endpoints.keys()) context.watch.endpoint(id);
      endpoints.clear();
      history.clear();
    },
  };
}
