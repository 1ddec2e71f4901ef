/**
 * @typedef {import("../views").Change} Change
 * @typedef {import("../views").EndpointOnPage} EndpointOnPage
 * @typedef {import("../../endpoints/jobView").JobView} JobView
 * @typedef {import("../../server/journal").JournalEntry} JournalEntry
 * @typedef {{ id: string, states: [at: number, state: string][], goneAt: number | undefined }} Lane
 * @typedef {object} Endpoint
 * @property {EndpointOnPage} view
 * @property {Map<string, Lane>} lanes
 * @property {[at: number, waiting: number][]} depth
 */

/** The longest time that is drawn, in milliseconds. */
const KEPT_MS = 3_600_000;
const MAX_POINTS = 4000;

/** The state of the emulator, as far as the page knows it. */
export const state = {
  /** @type {import("../views").About} */
  about: {
    ...{ token: "", profile: "contract", faultChoices: [] },
    jobStates: { all: [], ended: [], retryable: [] },
  },
  clock: { now: 0, rate: 0, manual: false, at: 0, isLost: false },
  /** @type {Map<string, Endpoint>} */
  endpoints: new Map(),
  /** @type {Map<string, JobView>} in order of submission, the newest last */
  jobs: new Map(),
  /** @type {Map<number, JournalEntry>} the newest last */
  requests: new Map(),
  requestCount: 0,
  /** @type {readonly import("../../server/faultMatch").ActiveFault[]} */
  faults: [],
};

/** Returns the time on the emulator's clock. */
export function now() {
  const { now: base, rate, at } = state.clock;
  return base + (performance.now() - at) * rate;
}

/** Stops the clock at the last known time, because the emulator cannot be reached. */
export function stopClock() {
  state.clock = { ...state.clock, now: now(), rate: 0, at: performance.now(), isLost: true };
}

/**
 * Applies a change from the emulator.
 * @param {Change} change
 */
export function apply(change) {
  if (change.about) startAgain(change);
  // After a reconnect, the page already has the history of endpoints that still exist.
  const hasPast = new Set(change.about ? state.endpoints.keys() : []);
  state.clock = { ...change.clock, at: performance.now(), isLost: false };
  for (const id of change.endpointsGone ?? []) state.endpoints.delete(id);
  for (const view of change.endpoints ?? []) update(view);
  for (const move of change.moves ?? []) if (!hasPast.has(move[1])) addMove(move);
  for (const [at, id, waiting] of change.depths ?? [])
    if (!hasPast.has(id)) addPoint(state.endpoints.get(id)?.depth, [at, waiting]);
  // The first point of a new endpoint is the current one, so sort the earlier ones before it.
  if (change.about) for (const { depth } of state.endpoints.values()) depth.sort(([a], [b]) => a - b);
  if (change.jobs) state.jobs = new Map(change.jobs.map((job) => [job.id, job]));
  if (change.requests) state.requests = new Map(change.requests.map((request) => [request.number, known(request)]));
  if (change.requestCount !== undefined) state.requestCount = change.requestCount;
  if (change.faults) state.faults = change.faults;
}

/**
 * Returns the request that is already shown if it has not changed, so that its row stays.
 * @param {JournalEntry} request
 */
function known(request) {
  const shown = state.requests.get(request.number);
  return shown && JSON.stringify(shown) === JSON.stringify(request) ? shown : request;
}

/** @param {Change} change */
function startAgain({ about, endpoints = [] }) {
  if (about) state.about = about;
  const ids = new Set(endpoints.map(({ id }) => id));
  for (const id of state.endpoints.keys()) if (!ids.has(id)) state.endpoints.delete(id);
}

/** @param {EndpointOnPage} view */
function update(view) {
  const known = state.endpoints.get(view.id);
  /** @type {Endpoint} */
  const endpoint = known ?? { view, lanes: new Map(), depth: [] };
  endpoint.view = view;
  if (!known) {
    state.endpoints.set(view.id, endpoint);
    endpoint.depth.push([state.clock.now, view.jobs.inQueue]);
  }
  const ids = new Set(view.workers.map(({ id }) => id));
  for (const { id, state: shown, since } of view.workers) {
    if (!endpoint.lanes.has(id)) endpoint.lanes.set(id, { id, states: [[since, shown]], goneAt: undefined });
  }
  for (const [id, lane] of endpoint.lanes) if (!ids.has(id)) lane.goneAt ??= state.clock.now;
  forgetLanes(endpoint);
}

/** @param {import("../views").Move} move */
function addMove([at, endpointId, workerId, shown]) {
  const endpoint = state.endpoints.get(endpointId);
  if (!endpoint) return;
  const lane = endpoint.lanes.get(workerId) ?? { id: workerId, states: [], goneAt: undefined };
  endpoint.lanes.set(workerId, lane);
  if (shown === "gone") lane.goneAt = at;
  else {
    // A worker that still exists was added with only its latest state.
    while (lane.states.length > 0 && (lane.states.at(-1)?.[0] ?? 0) >= at) lane.states.pop();
    addPoint(lane.states, [at, shown]);
  }
}

/** @param {Endpoint} endpoint */
function forgetLanes(endpoint) {
  const oldest = state.clock.now - KEPT_MS;
  const gone = [...endpoint.lanes.values()].filter(({ goneAt }) => goneAt !== undefined);
  for (const { id, goneAt = 0 } of gone) if (goneAt < oldest) endpoint.lanes.delete(id);
  for (const { id } of gone.slice(0, -20)) endpoint.lanes.delete(id);
}

/**
 * @template T
 * @param {[number, T][] | undefined} points
 * @param {[number, T]} point
 */
function addPoint(points, point) {
  points?.push(point);
  if (points && points.length > MAX_POINTS) points.splice(0, MAX_POINTS / 4);
}
