const fs = require("node:fs");
const path = require("node:path");
const { startEmulator } = require("../../dist/emulator");
const { createStack, PLUGIN, pluginIn } = require("../engine");
const { common } = require("../programs");
const { inTurn } = require("../runner");
const { STEPS } = require("./lifecycle");

/*
 * Compares our two forms with the public Go providers for the service. `PEERS` is a folder that
 * contains one folder for each provider, with its `pulumi-resource-runpod`.
 */

/** @typedef {keyof typeof STEPS} Step */
/** @typedef {{ ms: number, bytes: number }} Measured */
/**
 * @typedef {{ stack: Awaited<ReturnType<typeof createStack>>, isPeer: boolean, stop():
 * Promise<void> }} Entrant
 */

const FORMS = {
  "the dynamic form": { program: common.dynamic, settings: "" },
  "the plugin": { program: common.plugin, settings: PLUGIN },
};

/** @param {import("../runner").Settings} settings */
async function run({ quick, log }) {
  const folder = process.env.PEERS;
  if (!folder) {
    log("PEERS is not set: nothing is compared with other providers");
    return undefined;
  }
  const peers = fs
    .readdirSync(folder)
    .filter((name) => fs.existsSync(path.join(folder, name, "pulumi-resource-runpod")));
  if (peers.length === 0) throw new Error(`no folder in ${folder} contains pulumi-resource-runpod`);
  const [count, runs] = quick ? [20, 1] : [300, 7];
  /** @type {Record<Step, Record<string, Measured>>[]} */
  const lives = [];
  for (let run = 0; run < runs; run++) {
    log(`run ${run + 1} of ${runs}`);
    lives.push(await live(run, count, path.resolve(folder), peers, log));
  }
  return Object.keys(FORMS).flatMap((form) => peers.flatMap((peer) => rowsOf(form, peer, count, lives)));
}

/**
 * @param {string} form
 * @param {string} peer
 * @param {number} count
 * @param {readonly Record<Step, Record<string, Measured>>[]} lives
 * @returns {import("../runner").Row[]}
 */
function rowsOf(form, peer, count, lives) {
  const values = (/** @type {Step} */ step, /** @type {string} */ name, /** @type {keyof Measured} */ figure) =>
    lives.map((life) => life[step][name]?.[figure] ?? Number.NaN);
  const compared = { against: peer, judged: /** @type {const} */ ("ratio"), mark: { atMost: 1.1 } };
  const steps = /** @type {Step[]} */ (Object.keys(STEPS)).map((step) => ({
    what: `${form}: ${step} of ${count}`,
    unit: "s",
    ...compared,
    ours: values(step, form, "ms").map((ms) => ms / 1000),
    theirs: values(step, peer, "ms").map((ms) => ms / 1000),
  }));
  const state = {
    what: `${form}: state for each endpoint`,
    unit: "bytes",
    ...compared,
    mark: { atMost: 1 },
    ours: values("up", form, "bytes").map((bytes) => bytes / count),
    theirs: values("up", peer, "bytes").map((bytes) => bytes / count),
  };
  return [...steps, state];
}

/**
 * Runs each step of the lifecycle for each entrant. Each entrant has its own emulator.
 * @param {number} run
 * @param {number} count
 * @param {string} folder
 * @param {readonly string[]} peers
 * @param {(line: string) => void} log
 */
async function live(run, count, folder, peers, log) {
  /** @type {Record<string, Entrant>} */
  const entrants = {};
  for (const [name, { program, settings }] of Object.entries(FORMS))
    entrants[name] = await enter(program, settings, false);
  for (const peer of peers) {
    const settings = pluginIn(path.join(folder, peer)).replace("name: serverless-gpu", "name: runpod");
    entrants[peer] = await enter(common.peer, settings, true);
  }
  const life = /** @type {Record<Step, Record<string, Measured>>} */ ({});
  try {
    for (const step of /** @type {Step[]} */ (Object.keys(STEPS))) {
      const works = Object.entries(entrants).map(([name, entrant]) => [
        name,
        () => measure(step, name, entrant, count, log),
      ]);
      life[step] = await inTurn(run, Object.fromEntries(works));
    }
  } finally {
    for (const { stop } of Object.values(entrants)) await stop();
  }
  return life;
}

/**
 * @param {string} program
 * @param {string} settings
 * @param {boolean} isPeer
 * @returns {Promise<Entrant>}
 */
async function enter(program, settings, isPeer) {
  const emulator = await startEmulator({
    profile: "observed",
    drainMs: 0,
    rateLimits: { limits: "off", graphql: "off", management: "off" },
  });
  // The address of the service is built into one of the providers. To redirect it to the emulator,
  // set a proxy and the proxy's certificate.
  const { HTTPS_PROXY = "", SSL_CERT_FILE = "" } = process.env;
  const own = {
    RUNPOD_API_KEY: emulator.apiKey,
    RUNPOD_API_URL: `${emulator.url}/graphql`,
    HTTPS_PROXY,
    SSL_CERT_FILE,
  };
  const { SERVERLESS_GPU_SERVICE: _, ...env } = emulator.env;
  const stack = await createStack(program, isPeer ? own : env, settings);
  return {
    stack,
    isPeer,
    async stop() {
      stack.remove();
      await emulator.stop();
    },
  };
}

/**
 * @param {Step} step
 * @param {string} name
 * @param {Entrant} entrant
 * @param {number} count
 * @param {(line: string) => void} log
 * @returns {Promise<Measured>}
 */
async function measure(step, name, { stack, isPeer }, count, log) {
  const { args, idleTimeout } = STEPS[step];
  const env = { COUNT: String(count), IDLE_TIMEOUT: String(idleTimeout) };
  // The Go providers don't scale an endpoint to zero before they delete it, and the service rejects
  // the deletion of an endpoint with workers.
  if (step === "destroy" && isPeer) await stack.pulumi(STEPS.up.args, { ...env, WORKERS: "0" });
  const ms = await stack.pulumi(args, env);
  log(`${step}, ${name}: ${Math.round(ms)} ms`);
  return { ms, bytes: stack.stateBytes() };
}

module.exports = { title: "our forms compared with the public Go providers", run };
