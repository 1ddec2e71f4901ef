// Runs the commands of one fleet with the provider's handlers, and counts the requests that reach
// the service. Everything runs in this process, in virtual time (see `virtualTime.js`). The
// argument is a `Case` as JSON.
require("./virtualTime").useVirtualTime();

const path = require("node:path");
const { startEmulator } = require("../../dist/emulator");

/** @typedef {import("../requests").Case} Case */
/** @typedef {import("../requests").Measured} Measured */

const DIST = path.join(__dirname, "../../dist");
/** How long the window of a rate limit of one minute may still last, in milliseconds. */
const WINDOW_MS = 61_000;
/** How many operations an engine on two cores runs at once. */
const PARALLEL = 8;
/**
 * How long the engine takes to write the state after each operation, in milliseconds. It writes one
 * state at a time.
 */
const CHECKPOINT_MS = 15;

async function main() {
  /** @type {Case} */
  const asked = JSON.parse(process.argv[2] ?? "");
  const { api, count, before, after, keepsTemplates = false } = asked;
  const emulator = await startEmulator({
    profile: "observed",
    drainMs: 0,
    coldStartMs: 2_000,
    onRequest,
    // A template can be deleted immediately, because repeating the deletion for two minutes is a
    // cost that is not measured here.
    ...(keepsTemplates && { keepBoundTemplates: true, templateReleaseMs: 0 }),
    rateLimits: { graphql: "real", management: "real" },
  });
  Object.assign(process.env, emulator.env, { SERVERLESS_GPU_SERVICE: "runpod", SERVERLESS_GPU_API: api });
  if (before.templateId) emulator.seed({ templates: [{ id: "template", name: "template", imageName: "me/app:1" }] });
  /** @type {import("../../dist/emulator").JournalEntry[]} */
  let requests = [];
  /** @param {import("../../dist/emulator").JournalEntry} request */
  function onRequest(request) {
    requests.push(request);
  }
  const names = Array.from({ length: count }, (_, index) => `endpoint-${index}`);
  /** @type {Map<string, { id: string, inputs: object, outputs: object }>} */
  const state = new Map();

  /** @type {Record<string, (handlers: any, name: string) => Promise<void>>} */
  const commands = {
    async up(handlers, name) {
      const { inputs } = await handlers.check({}, { name, ...before });
      const { id, outs } = await handlers.create(inputs);
      state.set(name, { id, inputs, outputs: outs });
    },
    async update(handlers, name) {
      const { id, inputs: olds, outputs } = of(name);
      const { inputs } = await handlers.check(olds, { name, ...before, ...after });
      const { changes } = await handlers.diff(id, outputs, inputs);
      if (changes === false) throw new Error(`${name} has no changes`);
      const { outs } = await handlers.update(id, outputs, inputs);
      state.set(name, { id, inputs, outputs: outs });
    },
    async refresh(handlers, name) {
      const { id, outputs } = of(name);
      const { id: found } = await handlers.read(id, outputs);
      if (found !== id) throw new Error(`the refresh has lost ${name}`);
    },
    async destroy(handlers, name) {
      const { id, outputs } = of(name);
      await handlers.delete(id, outputs);
    },
  };
  const of = (/** @type {string} */ name) => {
    const found = state.get(name);
    if (!found) throw new Error(`${name} is not in state`);
    return found;
  };

  /** @type {Record<string, Measured>} */
  const measured = {};
  for (const [command, play] of Object.entries(commands)) {
    if (command !== "up") await new Promise((resolve) => setTimeout(resolve, WINDOW_MS));
    requests = [];
    const handlers = freshHandlers();
    const startedAt = performance.now();
    await inParallel(names, (name) => play(handlers, name));
    measured[command] = { ...counted(requests), seconds: (performance.now() - startedAt) / 1000 };
  }
  const left = [...emulator.endpoints.list(), ...emulator.templates.list().filter(({ id }) => id !== "template")];
  if (left.length > 0) throw new Error(`destroy has left ${left.length} records`);
  process.send?.(measured);
  await emulator.stop();
}

/** @param {readonly import("../../dist/emulator").JournalEntry[]} requests */
function counted(requests) {
  /** @type {Record<string, number>} */
  const operations = {};
  const ofManagement = requests.filter((request) => ["graphql", "v2"].includes(request.interface));
  for (const { operation, status } of ofManagement) {
    const name = status === 429 ? `${operation} (429)` : operation;
    operations[name] = (operations[name] ?? 0) + 1;
  }
  const refused = requests.filter(({ status }) => status === 429).length;
  const requestsOfJobs = requests.length - ofManagement.length;
  return { requests: ofManagement.length - refused, refused, requestsOfJobs, operations };
}

/** Returns the handlers of a new provider process, which knows neither lists nor limits. */
function freshHandlers() {
  for (const file of Object.keys(require.cache)) {
    if (file.startsWith(path.join(DIST, "provider"))) delete require.cache[file];
  }
  return require(path.join(DIST, "provider/handlers")).v1;
}

/**
 * Runs the tasks as the engine does: a new task starts whenever one ends.
 * @param {readonly string[]} names
 * @param {(name: string) => Promise<void>} play
 */
async function inParallel(names, play) {
  const left = [...names];
  let writing = Promise.resolve();
  const run = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      await play(name);
      writing = writing.then(() => new Promise((resolve) => setTimeout(resolve, CHECKPOINT_MS)));
      await writing;
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, run));
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
  process.disconnect?.();
});
