const { measure } = require("./processes");

/** @typedef {"up" | "update" | "refresh" | "destroy"} Command */

/**
 * A fleet of endpoints, and how it is changed.
 * @typedef {object} Fleet
 * @property {string} what
 * @property {Readonly<Record<string, unknown>>} before the settings of each endpoint
 * @property {Readonly<Record<string, unknown>>} after what `update` changes
 * @property {boolean} [keepsTemplates] whether the service keeps the template of a deleted endpoint
 */

/**
 * The commands that one process runs.
 * @typedef {Omit<Fleet, "what"> & { readonly api: Api, readonly count: number }} Case
 */

/**
 * The accepted requests to the management API (in total and by operation), the requests that were
 * rejected with 429, the requests to the queue's API, and the virtual time.
 * @typedef {object} Measured
 * @property {number} requests
 * @property {number} refused
 * @property {number} requestsOfJobs
 * @property {Readonly<Record<string, number>>} operations
 * @property {number} seconds
 */

/** @typedef {keyof typeof APIS} Api */

/** The APIs, with RunPod's limit of requests in a minute. */
const APIS = /** @type {const} */ ({
  graphql: { title: "GraphQL", perMinute: 180 },
  v2: { title: "REST v2", perMinute: 60 },
});

const COMMANDS = /** @type {readonly Command[]} */ (["up", "update", "refresh", "destroy"]);

const PLAIN = { gpuIds: "AMPERE_24", workersMax: 1 };

/** @type {Readonly<Record<string, Fleet>>} */
const FLEETS = {
  own: {
    what: "own containers",
    before: { ...PLAIN, imageName: "me/app:1", env: { MODEL: "llama" } },
    after: { imageName: "me/app:2" },
  },
  shared: { what: "one template", before: { ...PLAIN, templateId: "template" }, after: { idleTimeout: 77 } },
};

const OWN = /** @type {Fleet} */ (FLEETS.own);

/** Settings that cost requests of their own. @type {Readonly<Record<string, Fleet>>} */
const FEATURES = {
  ready: {
    what: "awaitReady",
    before: { ...OWN.before, workersMin: 1, awaitReady: true },
    after: { imageName: "me/app:2" },
  },
  rollOut: {
    what: "rollOut with a test",
    before: { ...OWN.before, workersMin: 1, rollOut: { test: { input: { prompt: "a" } } } },
    after: { imageName: "me/app:2" },
  },
};

/**
 * A service that keeps the template of a deleted endpoint. Each deletion then needs one more
 * request, and deletions that run together share three more lists.
 */
const KEPT = { ...OWN, what: "own containers, whose templates the service keeps,", keepsTemplates: true };

/** The most requests for the destroy of each of 100 such endpoints over GraphQL. */
const KEPT_GOAL = 3.6;

/**
 * The fewest requests that a command needs for each endpoint: one save, or for a deletion a scale
 * to zero and the deletion. Over REST v2, a deletion also reads the workers, because the list does
 * not show them.
 * @type {Readonly<Record<Api, Readonly<Record<Command, number>>>>}
 */
const FLOOR = {
  graphql: { up: 1, update: 1, refresh: 0, destroy: 2 },
  v2: { up: 1, update: 1, refresh: 0, destroy: 3 },
};

/**
 * The goals for 100 endpoints: the most requests for each endpoint. Requests above the floor are
 * reads that the endpoints share: lists, the catalog, and over GraphQL the values that a save must
 * repeat.
 * @type {Readonly<Record<Api, Readonly<Record<Command, number>>>>}
 */
const GOALS = {
  graphql: { up: 1.05, update: 1.2, refresh: 0.03, destroy: 2.3 },
  v2: { up: 1.05, update: 1.05, refresh: 0.03, destroy: 3.2 },
};

/** The reads that even a small fleet needs: the catalog, the first list and the last list. */
const FIXED = 3;

/**
 * Returns the most requests that a command of so many endpoints may need.
 * @param {Api} api
 * @param {Command} command
 * @param {number} count
 */
function goalOf(api, command, count) {
  if (command === "refresh") return 3;
  return Math.floor(GOALS[api][command] * count + (count < 100 ? FIXED : 0));
}

/**
 * Returns the shortest time in which the limits allow so many requests, in seconds.
 * @param {Api} api
 * @param {number} requests
 */
function allowedSeconds(api, requests) {
  return Math.floor(Math.max(0, requests - 1) / APIS[api].perMinute) * 60;
}

/**
 * Runs the commands of a fleet in a separate process.
 * @param {Api} api
 * @param {Fleet} fleet
 * @param {number} count
 * @returns {Promise<Readonly<Record<Command, Measured>>>}
 */
function play(api, { what, ...fleet }, count) {
  return measure("requests.js", { args: [JSON.stringify({ api, ...fleet, count })] });
}

module.exports = { APIS, COMMANDS, FLEETS, KEPT, KEPT_GOAL, FIXED, FEATURES, FLOOR, goalOf, allowedSeconds, play };
