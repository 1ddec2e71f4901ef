const { startEmulator } = require("../../dist/emulator");
const { createStack } = require("../engine");
const { floor, ours } = require("../programs");
const { inTurn } = require("../runner");

/**
 * The commands of a stack's lifecycle, in order, and the idle timeout that the program declares for
 * each.
 */
const STEPS = {
  up: { args: ["up", "--yes", "--skip-preview"], idleTimeout: 10 },
  preview: { args: ["preview", "--expect-no-changes"], idleTimeout: 10 },
  update: { args: ["up", "--yes", "--skip-preview"], idleTimeout: 20 },
  refresh: { args: ["refresh", "--yes", "--skip-preview"], idleTimeout: 20 },
  destroy: { args: ["destroy", "--yes", "--skip-preview"], idleTimeout: 20 },
};

/** @typedef {keyof typeof STEPS} Step */

/**
 * One command: its time for both stacks (milliseconds), the operations that the service received,
 * and the sizes of both states after the command (bytes).
 * @typedef {object} Measured
 * @property {{ ours: number, floor: number }} ms
 * @property {string[]} calls
 * @property {{ ours: number, floor: number }} bytes
 */

/** @param {import("../runner").Settings} settings */
async function run({ quick, log }) {
  const [count, runs] = quick ? [30, 1] : [300, 5];
  /** @type {Record<Step, Measured>[]} */
  const lives = [];
  const emulator = await startEmulator({ profile: "contract", drainMs: 0 });
  try {
    for (let run = 0; run < runs; run++) {
      log(`run ${run + 1} of ${runs}`);
      emulator.reset();
      lives.push(await live(run, count, emulator, log));
    }
  } finally {
    await emulator.stop();
  }

  /**
   * @param {string} what
   * @param {Step} step
   * @param {number} atMost
   */
  const timeRow = (what, step, atMost) => ({
    what: `${what} of ${count}`,
    unit: "s",
    ours: lives.map((life) => life[step].ms.ours / 1000),
    against: "the floor",
    theirs: lives.map((life) => life[step].ms.floor / 1000),
    judged: /** @type {const} */ ("ratio"),
    mark: { atMost },
  });
  return [
    timeRow("up", "up", 1.03),
    timeRow("preview without changes", "preview", 1.03),
    timeRow("update of one field", "update", 1.03),
    timeRow("destroy (drain 0)", "destroy", 1.3),
    {
      what: `refresh of ${count}: lists asked for`,
      unit: "",
      ours: lives.map(({ refresh }) => refresh.calls.length),
      judged: /** @type {const} */ ("value"),
      mark: { atMost: 3 },
    },
    {
      what: "state for each endpoint",
      unit: "bytes",
      ours: lives.map(({ up }) => up.bytes.ours / count),
      against: "the floor",
      theirs: lives.map(({ up }) => up.bytes.floor / count),
      judged: /** @type {const} */ ("ratio"),
      mark: { atMost: 1.1 },
    },
  ];
}

/**
 * Runs each step of the lifecycle for one of our stacks and one of the floor's.
 * @param {number} run
 * @param {number} count
 * @param {import("../../dist/emulator").Emulator} emulator
 * @param {(line: string) => void} log
 */
async function live(run, count, emulator, log) {
  const stacks = { ours: await createStack(ours, emulator.env), floor: await createStack(floor) };
  const life = /** @type {Record<Step, Measured>} */ ({});
  try {
    for (const step of /** @type {Step[]} */ (Object.keys(STEPS))) {
      const { args, idleTimeout } = STEPS[step];
      const env = { COUNT: String(count), IDLE_TIMEOUT: String(idleTimeout) };
      emulator.journal.clear();
      const ms = await inTurn(run, {
        ours: () => stacks.ours.pulumi(args, env),
        floor: () => stacks.floor.pulumi(args, env),
      });
      const calls = emulator.journal.operations();
      const bytes = { ours: stacks.ours.stateBytes(), floor: stacks.floor.stateBytes() };
      life[step] = { ms, calls, bytes };
      log(`${step}: ${Math.round(ms.ours)} ms, floor ${Math.round(ms.floor)} ms; ${tally(calls)}`);
      check(step, count, emulator);
    }
  } finally {
    stacks.ours.remove();
    stacks.floor.remove();
  }
  return life;
}

/**
 * Throws an error if the service does not contain the result of the step, because a time means
 * nothing if the work was not done.
 * @param {Step} step
 * @param {number} count
 * @param {import("../../dist/emulator").Emulator} emulator
 */
function check(step, count, emulator) {
  const endpoints = emulator.endpoints.list();
  const wanted = step === "destroy" ? 0 : count;
  const done = endpoints.filter(({ idleTimeout }) => idleTimeout === STEPS[step].idleTimeout);
  if (done.length !== wanted) throw new Error(`after ${step}, ${done.length} endpoints are as declared, not ${wanted}`);
}

/** @param {readonly string[]} calls */
function tally(calls) {
  const counts = new Map();
  for (const call of calls) counts.set(call, (counts.get(call) ?? 0) + 1);
  return [...counts].map(([call, count]) => `${count} × ${call}`).join(", ") || "no call";
}

module.exports = {
  title: "a stack's lifecycle: up, preview, update, refresh, destroy; its state",
  run,
  STEPS,
  check,
  tally,
};
