import { BusinessError } from "../model/businessError";
import type { EndpointContainer } from "../model/containerFields";
import { ENDPOINT_FIELDS, type EndpointFields, type EndpointInput, type EndpointRecord } from "../model/endpointFields";
import { fieldsAfter } from "../model/fieldTable";
import { randomId } from "../model/random";
import { createHistory, type History } from "../records/history";
import type { RuntimeContext } from "../workers/context";
import type { WorkerPod } from "../workers/worker";
import { assertAllowed, assertOneKind, type References } from "./endpointRules";
import { createReleaseLog, type EndpointRelease, type ReleaseLog } from "./releaseLog";
import { EndpointRuntime } from "./runtime";

/** An endpoint: its stored record and its runtime. */
export interface Endpoint {
  readonly record: EndpointRecord;
  readonly runtime: EndpointRuntime;
}

/** The parts of an endpoint that are not fields. */
interface OwnParts {
  /** The endpoint's own container. @default the template's container */
  readonly container?: EndpointContainer | null;
}

/** A snapshot of an endpoint, for lists. */
export interface EndpointView {
  readonly record: Readonly<EndpointRecord>;
  readonly pods: readonly Readonly<WorkerPod>[];
}

/** The endpoints of the emulator's account. */
export interface Endpoints {
  /**
   * Creates an endpoint, or changes the endpoint with the input's id.
   * @param sent the fields that the request itself contained; only ids in these are checked
   * @throws BusinessError if the input violates a rule of the service
   */
  save(input: EndpointInput, sent?: Partial<EndpointInput>): Endpoint;
  /**
   * Creates an endpoint, with the given id if there is one.
   * @throws BusinessError if the input violates a rule of the service
   * @throws RangeError if the id exists
   */
  create(input: EndpointInput, id?: string, own?: OwnParts): Endpoint;
  /**
   * Changes some of an endpoint's fields, as REST v2 does. All other fields keep their value.
   * @throws BusinessError if the change violates a rule of the service
   */
  patch(id: string, fields: Partial<EndpointInput>, own?: OwnParts): Endpoint;
  /**
   * Deletes an endpoint in the same way as `deleteEndpoint`.
   * @throws BusinessError unless `workersMin` and `workersMax` are 0 and all workers have stopped
   */
  delete(id: string): void;
  /**
   * Returns the endpoints as they were `lagMs` milliseconds ago (at most `MAX_LIST_LAG_MS`), with
   * their current pods.
   */
  list(lagMs?: number): readonly EndpointView[];
  /** Returns all endpoints, in order of creation. */
  all(): Endpoint[];
  find(id: string): Endpoint | undefined;
  /** Returns an endpoint's releases since the emulator started, newest first. */
  releases(id: string): readonly EndpointRelease[];
  /** Changes an endpoint without checking any rule. */
  change(id: string, patch: Partial<EndpointFields>): Endpoint;
  /** Updates the workers of all endpoints that use this template to its current version. */
  rollOut(templateId: string): void;
  /** Starts workers that can start after a change outside of any endpoint. */
  reconcile(): void;
  /** Deletes an endpoint immediately. Returns `false` if it does not exist. */
  remove(id: string): boolean;
  /** Returns the state to save for a restart as plain JSON. */
  snapshot(): EndpointSnapshot[];
  restore(snapshot: readonly EndpointSnapshot[]): void;
  /** Stops and deletes all endpoints. */
  clear(): void;
}

export interface EndpointSnapshot {
  readonly record: EndpointRecord;
  readonly runtime: unknown;
}

interface EndpointsOptions {
  readonly context: RuntimeContext;
  /** Looks up the records that endpoints refer to. */
  readonly references: References;
  /** Returns the highest total of `workersMax` over all endpoints; `undefined` for no limit. */
  readonly workerQuota: () => number | undefined;
  /** Called with the id of each endpoint that was deleted. */
  readonly onRemoved: (id: string) => void;
}

/** The state that the functions below share. */
interface State extends EndpointsOptions {
  readonly endpoints: Map<string, Endpoint>;
  readonly history: History<EndpointRecord>;
  readonly releases: ReleaseLog;
}

export function createEndpoints(options: EndpointsOptions): Endpoints {
  const { context } = options;
  const endpoints = new Map<string, Endpoint>();
  const history = createHistory<EndpointRecord>(context.clock);
  const releases = createReleaseLog(context.containerOf);
  const state: State = { ...options, endpoints, history, releases };
  return {
    save: (input, sent = input) => saveEndpoint(state, input, sent),
    create: (input, id, own) => createEndpoint(state, input, id, own),
    patch(id, fields, own) {
      const current = endpointWithId(state, id);
      const input = { ...current.record, ...fields };
      return changeEndpoint(state, current, allowedFields(state, current.record, input, fields), own);
    },
    delete: (id) => deleteEndpoint(state, id),
    list: (lagMs) => listEndpoints(state, lagMs),
    all: () => [...endpoints.values()],
    find: (id) => endpoints.get(id),
    releases: (id) => releases.of(id),
    change: (id, patch) => changeEndpoint(state, endpointWithId(state, id), patch),
    rollOut: (templateId) => rollOut(state, templateId),
    reconcile() {
      for (const { runtime } of endpoints.values()) runtime.dispatch();
    },
    remove: (id) => removeEndpoint(state, id),
    snapshot: () =>
      Array.from(endpoints.values(), ({ record, runtime }) => ({
        record: { ...record },
        runtime: runtime.snapshot(),
      })),
    restore(snapshot) {
      for (const { record, runtime } of snapshot) startEndpoint(state, { ...record }, runtime);
    },
    clear() {
      for (const { runtime } of endpoints.values()) runtime.dispose();
      for (const id of endpoints.keys()) context.watch.endpoint(id);
      endpoints.clear();
      history.clear();
      releases.clear();
    },
  };
}

function saveEndpoint(state: State, input: EndpointInput, sent: Partial<EndpointInput>): Endpoint {
  if (input.id == null) return createEndpoint(state, input);
  const current = endpointWithId(state, input.id);
  assertOneKind(input);
  // GraphQL only knows the link to a template.
  if (current.record.container) state.references.assertTemplate(input.templateId);
  return changeEndpoint(state, current, allowedFields(state, current.record, input, sent), { container: null });
}

function createEndpoint(
  state: State,
  input: EndpointInput,
  wantedId?: string,
  { container = null }: OwnParts = {},
): Endpoint {
  const { context, endpoints } = state;
  if (wantedId !== undefined && endpoints.has(wantedId)) {
    throw new RangeError(`An endpoint with the id "${wantedId}" already exists.`);
  }
  assertOneKind(input);
  const fields = allowedFields(state, undefined, input);
  const computeType = fields.instanceIds?.length ? "CPU" : "GPU";
  let id = wantedId ?? randomId(context.random);
  while (endpoints.has(id)) id = randomId(context.random);
  noteChange(state, id, undefined);
  return startEndpoint(state, {
    ...fields,
    id,
    computeType,
    createdAt: context.clock.now(),
    version: 0,
    ...(container && { container }),
  });
}

function startEndpoint({ context, endpoints, releases }: State, record: EndpointRecord, snapshot?: unknown): Endpoint {
  releases.begin(record, context.clock.now());
  const endpoint = { record, runtime: new EndpointRuntime(record, context, snapshot) };
  endpoints.set(record.id, endpoint);
  return endpoint;
}

function changeEndpoint(
  state: State,
  endpoint: Endpoint,
  patch: Partial<EndpointFields>,
  { container }: OwnParts = {},
): Endpoint {
  const { record, runtime } = endpoint;
  const { templateId, container: ownBefore = null } = record;
  noteChange(state, record.id, record);
  Object.assign(record, patch);
  if (container !== undefined && container !== ownBefore) record.container = container;
  const isReleased = state.releases.release(record, state.context.clock.now());
  const usedTemplate = ownBefore === null;
  const usesOther = record.templateId !== templateId || (record.container ?? null) !== ownBefore;
  if (usedTemplate && usesOther) state.context.released(templateId);
  if (isReleased) runtime.rollOut();
  runtime.reconcile();
  return endpoint;
}

function deleteEndpoint(state: State, id: string): void {
  const { record, runtime } = endpointWithId(state, id);
  if (record.workersMin !== 0 || record.workersMax !== 0) {
    throw new BusinessError(
      "Endpoint workersMin and workersMax must both be 0 before it is deleted",
      "delete.workers-not-zero",
    );
  }
  const left = runtime.pods().filter((pod) => pod.desiredStatus === "RUNNING").length;
  if (left > 0) {
    throw new BusinessError(
      `Endpoint still has ${left} running workers: try again when they have stopped`,
      "delete.draining",
    );
  }
  removeEndpoint(state, id);
}

function removeEndpoint(state: State, id: string): boolean {
  const { context, endpoints } = state;
  const endpoint = endpoints.get(id);
  if (!endpoint) return false;
  noteChange(state, id, endpoint.record);
  endpoint.runtime.dispose();
  if (!endpoint.record.container) context.released(endpoint.record.templateId);
  endpoints.delete(id);
  state.onRemoved(id);
  return true;
}

function rollOut(state: State, templateId: string): void {
  for (const { record, runtime } of state.endpoints.values()) {
    if (record.templateId !== templateId || record.container) continue;
    noteChange(state, record.id, record);
    if (state.releases.release(record, state.context.clock.now(), true)) runtime.rollOut();
  }
}

function listEndpoints({ endpoints, history }: State, lagMs = 0): EndpointView[] {
  const present = Array.from(endpoints.values(), ({ record }) => record);
  const records = history.asOf(present, lagMs);
  return records.map((record) => ({ record, pods: endpoints.get(record.id)?.runtime.pods() ?? [] }));
}

/** Must be called before each change. `before` is `undefined` for a new endpoint. */
function noteChange({ context, history }: State, id: string, before: EndpointRecord | undefined): void {
  history.remember(id, before);
  context.changed();
  context.watch.endpoint(id);
}

function endpointWithId({ endpoints }: State, id: string): Endpoint {
  const endpoint = endpoints.get(id);
  if (!endpoint) throw new BusinessError(`Endpoint "${id}" not found`, "save.unknown-id");
  return endpoint;
}

/**
 * Returns the fields after a save.
 * @throws BusinessError if they violate a rule of the service
 */
function allowedFields(
  state: State,
  current: EndpointRecord | undefined,
  input: EndpointInput,
  sent: Partial<EndpointInput> = input,
): EndpointFields {
  const { references } = state;
  const { profile } = state.context;
  const fields = fieldsAfter(ENDPOINT_FIELDS, current, input, profile);
  assertAllowed(fields, current, current ? namedIn(sent, current, references) : references);
  if (fields.workersMax > (current?.workersMax ?? 0)) assertQuota(state, fields.workersMax, current?.id);
  return fields;
}

/**
 * Returns the references in a change. Ids that the change omits are not checked. Neither is the
 * template of an endpoint with its own container, because the container outlives the template.
 */
function namedIn(sent: Partial<EndpointInput>, current: EndpointRecord, references: References): References {
  const { templateId, networkVolumeId, networkVolumeIds } = sent;
  const keepsTemplate = templateId == null || (current.container && templateId === current.templateId);
  const keepsVolumes = networkVolumeId === undefined && networkVolumeIds === undefined;
  return {
    ...references,
    ...(keepsTemplate && { assertTemplate() {} }),
    ...(keepsVolumes && { assertVolume() {} }),
  };
}

function assertQuota({ endpoints, workerQuota }: State, workersMax: number, exceptId: string | undefined): void {
  const quota = workerQuota();
  if (quota === undefined) return;
  let used = 0;
  for (const { record } of endpoints.values()) if (record.id !== exceptId) used += record.workersMax;
  if (used + workersMax > quota) {
    throw new BusinessError(
      `Max workers across all endpoints must not exceed your workers quota (${quota}). ${used} are in use by other ` +
        `endpoints: lower the max worker count for this endpoint to at most ${Math.max(0, quota - used)}`,
      "save.quota",
    );
  }
}
