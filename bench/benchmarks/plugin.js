const path = require("node:path");
const { startEmulator } = require("../../dist/emulator");
const { buildEmptyPlugin } = require("../emptyPlugin");
const { createStack, PLUGIN, pluginIn, SCRATCH } = require("../engine");
const { floor, ours: dynamic, plugin } = require("../programs");
const { inTurn } = require("../runner");
const { STEPS, check } = require("./lifecycle");

/** @typedef {keyof typeof STEPS} Step */
/** @typedef {"plugin" | "dynamic" | "floor" | "empty"} Form */
/** @typedef {Exclude<Form, "plugin">} Peer */

/** @type {Record<Peer, string>} */
const PEERS = { dynamic: "the dynamic form", floor: "the floor", empty: "the empty plugin" };

/**
 * The time of one command, in milliseconds, and the size of the state after it, in bytes.
 * @typedef {{ ms: number, bytes: number }} Measured
 */

/** @param {import("../runner").Settings} settings */
async function run({ quick, log }) {
  const [count, runs] = quick ? [30, 1] : [300, 5];
  /** @type {Record<Step, Record<Form, Measured>>[]} */
  const lives = [];
  for (let run = 0; run < runs; run++) {
    log(`run ${run + 1} of ${runs}`);
    lives.push(await live(run, count, log));
  }

  /**
   * @param {string} what
   * @param {Step} step
   * @param {Peer} peer
   * @param {number} atMost
   * @returns {import("../runner").Row}
   */
  const timeRow = (what, step, peer, atMost) => ({
    what: `plugin: ${what} of ${count}`,
    unit: "s",
    ours: lives.map((life) => life[step].plugin.ms / 1000),
    against: PEERS[peer],
    theirs: lives.map((life) => life[step][peer].ms / 1000),
    judged: "ratio",
    mark: { atMost },
  });
  /** @type {[Peer, number][]} */
  const peers = [
    ["empty", 1.1],
    ["dynamic", 1.1],
    ["floor", 1.25],
  ];
  return peers.flatMap(([peer, atMost]) => [
    timeRow("up", "up", peer, atMost),
    timeRow("preview without changes", "preview", peer, atMost),
    timeRow("update of one field", "update", peer, atMost),
    timeRow("refresh", "refresh", peer, atMost),
    timeRow("destroy (drain 0)", "destroy", peer, atMost),
    {
      ...timeRow("state for each endpoint", "up", peer, 1.1),
      what: "plugin: state for each endpoint",
      unit: "bytes",
      ours: lives.map(({ up }) => up.plugin.bytes / count),
      theirs: lives.map(({ up }) => up[peer].bytes / count),
    },
  ]);
}

/**
 * Runs each step of the lifecycle for a stack of each form. Our two forms have one account each.
 * @param {number} run
 * @param {number} count
 * @param {(line: string) => void} log
 */
async function live(run, count, log) {
  const [own, other] = [
    await startEmulator({ profile: "contract", drainMs: 0 }),
    await startEmulator({ profile: "contract", drainMs: 0 }),
  ];
  const stacks = {
    plugin: await createStack(plugin, own.env, PLUGIN),
    dynamic: await createStack(dynamic, other.env),
    floor: await createStack(floor),
    empty: await createStack(plugin, {}, pluginIn(buildEmptyPlugin(path.join(SCRATCH, "empty-plugin")))),
  };
  const life = /** @type {Record<Step, Record<Form, Measured>>} */ ({});
  try {
    for (const step of /** @type {Step[]} */ (Object.keys(STEPS))) {
      const { args, idleTimeout } = STEPS[step];
      /** @param {Form} form */
      const measure = async (form) => {
        const ms = await stacks[form].pulumi(args, { COUNT: String(count), IDLE_TIMEOUT: String(idleTimeout) });
        log(`${step}, ${form}: ${Math.round(ms)} ms`);
        return { ms, bytes: stacks[form].stateBytes() };
      };
      life[step] = await inTurn(run, {
        plugin: () => measure("plugin"),
        dynamic: () => measure("dynamic"),
        floor: () => measure("floor"),
        empty: () => measure("empty"),
      });
      for (const emulator of [own, other]) check(step, count, emulator);
    }
  } finally {
    for (const stack of Object.values(stacks)) stack.remove();
    await Promise.all([own.stop(), other.stop()]);
  }
  return life;
}

module.exports = { title: "the provider plugin compared with the dynamic form", run };
