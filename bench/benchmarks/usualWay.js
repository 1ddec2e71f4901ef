const { startEmulator } = require("../../dist/emulator");
const { createStack } = require("../engine");
const { ours, usualWay } = require("../programs");
const { alternate } = require("../runner");

const UP = ["up", "--yes", "--skip-preview"];

/** @param {import("../runner").Settings} settings */
async function run({ quick, log }) {
  const [count, runs] = quick ? [30, 1] : [300, 3];
  const emulator = await startEmulator({ profile: "contract", drainMs: 0 });

  /** A new stack's first `up`. @param {string} program */
  async function up(program) {
    emulator.reset();
    const stack = await createStack(program, emulator.env);
    try {
      const ms = await stack.pulumi(UP, { COUNT: String(count), IDLE_TIMEOUT: "10" });
      log(`${program === ours ? "ours" : "the usual way"}: ${Math.round(ms)} ms`);
      return { seconds: ms / 1000, bytes: stack.stateBytes() / count };
    } finally {
      stack.remove();
    }
  }

  try {
    const measured = await alternate(runs, { ours: () => up(ours), usual: () => up(usualWay) });
    const against = "pulumi.dynamic.Resource";
    return [
      {
        what: `up of ${count}`,
        unit: "s",
        ours: measured.ours.map(({ seconds }) => seconds),
        against,
        theirs: measured.usual.map(({ seconds }) => seconds),
        judged: "ratio",
        mark: { atMost: 0.7 },
      },
      {
        what: "state for each endpoint",
        unit: "bytes",
        ours: measured.ours.map(({ bytes }) => bytes),
        against,
        theirs: measured.usual.map(({ bytes }) => bytes),
        judged: "ratio",
        mark: { atMost: 0.7 },
      },
    ];
  } finally {
    await emulator.stop();
  }
}

module.exports = { title: "against a pulumi.dynamic.Resource, the usual way", run };
