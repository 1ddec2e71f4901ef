const { startEmulator } = require("../../dist/emulator");
const { createStack, PLUGIN } = require("../engine");
const { ours, plugin } = require("../programs");
const { live } = require("./lifecycle");

/** @typedef {Awaited<ReturnType<typeof live>>} Life */

/** @param {import("../runner").Settings} settings */
async function run({ quick, log }) {
  const [count, runs] = quick ? [30, 1] : [300, 3];
  /** @type {Life[]} */
  const lives = [];
  const [first, second] = [await startEmulator({ drainMs: 0 }), await startEmulator({ drainMs: 0 })];
  try {
    for (let run = 0; run < runs; run++) {
      log(`run ${run + 1} of ${runs}`);
      first.reset();
      second.reset();
      // Two services, because the names of both programs are the same.
      const stacks = {
        ours: await createStack(plugin, first.env, PLUGIN),
        floor: await createStack(ours, second.env),
      };
      lives.push(await live(run, count, first, log, stacks));
    }
  } finally {
    await first.stop();
    await second.stop();
  }
  /** @type {(keyof Life)[]} */
  const steps = ["up", "preview", "update", "refresh", "destroy"];
  const times = steps.map((step) => ({
    what: `plugin: ${step} of ${count}`,
    unit: "s",
    ours: lives.map((life) => life[step].ms.ours / 1000),
    against: "the dynamic form",
    theirs: lives.map((life) => life[step].ms.floor / 1000),
    judged: /** @type {const} */ ("ratio"),
    mark: { atMost: 1.1 },
  }));
  const state = {
    what: "plugin: state for each endpoint",
    unit: "bytes",
    ours: lives.map(({ up }) => up.bytes.ours / count),
    against: "the dynamic form",
    theirs: lives.map(({ up }) => up.bytes.floor / count),
    judged: /** @type {const} */ ("ratio"),
    mark: { atMost: 1.05 },
  };
  return [...times, state];
}

module.exports = { title: "the provider plugin beside the dynamic form", run };
