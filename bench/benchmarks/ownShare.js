const { startEmulator } = require("../../dist/emulator");
const { createStack, WITHOUT_CHECKPOINTS } = require("../engine");
const { metered } = require("../metered");
const { floor, ours, usualWay } = require("../programs");
const { inTurn } = require("../runner");
const { STEPS, check, tally } = require("./lifecycle");

/** @typedef {"ours" | "v2" | "floor" | "usual"} Kind */
/** @typedef {"up" | "update" | "destroy"} Step */

/** How much longer than the floor a command may take, in seconds. */
const MARKS = { up: 1, update: 1, destroy: 1 };
const MEASURED = /** @type {readonly Step[]} */ (Object.keys(MARKS));

/**
 * One command: its time, the CPU time of the program and the provider process, in seconds, and the
 * number of requests to the service.
 * @typedef {{ seconds: number, program: number, provider: number, requests: number }} Measured
 */

/** @typedef {Record<Step, Record<Kind, Measured>>} Life */

/** @param {import("../runner").Settings} settings */
async function run({ quick, log }) {
  const [count, runs] = quick ? [30, 1] : [300, 5];
  /** @type {Life[]} */
  const lives = [];
  // Otherwise, the rate limit of REST v2 would determine the times.
  const emulator = await startEmulator({ profile: "contract", drainMs: 0, rateLimits: { limits: "off" } });
  try {
    for (let run = 0; run < runs; run++) {
      emulator.reset();
      lives.push(await live(run, count, emulator, log));
    }
  } finally {
    await emulator.stop();
  }
  return MEASURED.flatMap((step) => rowsOf(step, count, lives));
}

/**
 * Runs the lifecycle of each stack. The stack over REST v2 runs first and alone, because its
 * endpoints have the same names as those of our other stack.
 * @param {number} run
 * @param {number} count
 * @param {import("../../dist/emulator").Emulator} emulator
 * @param {(line: string) => void} log
 * @returns {Promise<Life>}
 */
async function live(run, count, emulator, log) {
  const stacks = {
    ours: await createStack(ours, emulator.env),
    v2: await createStack(ours, { ...emulator.env, SERVERLESS_GPU_API: "v2" }),
    floor: await createStack(floor),
    usual: await createStack(usualWay),
  };

  /** @param {Step} step @param {Kind} kind @returns {Promise<Measured>} */
  async function measure(step, kind) {
    const { args, idleTimeout } = STEPS[step];
    emulator.journal.clear();
    const env = { ...WITHOUT_CHECKPOINTS, COUNT: String(count), IDLE_TIMEOUT: String(idleTimeout) };
    const { ms, program, provider } = await metered(stacks[kind], args, env);
    const calls = emulator.journal.operations();
    log(
      `${step}, ${kind}: ${Math.round(ms)} ms; processor: program ${program.seconds.toFixed(2)} s, ` +
        `provider ${provider.seconds.toFixed(2)} s; ${tally(calls)}`,
    );
    return { seconds: ms / 1000, program: program.seconds, provider: provider.seconds, requests: calls.length };
  }

  const life = /** @type {Life} */ ({});
  try {
    for (const kinds of /** @type {Kind[][]} */ ([["v2"], ["ours", "floor", "usual"]])) {
      for (const step of MEASURED) {
        const works = kinds.map((kind) => [kind, () => measure(step, kind)]);
        life[step] = { ...life[step], ...(await inTurn(run, Object.fromEntries(works))) };
        check(step, count, emulator);
      }
    }
  } finally {
    for (const stack of Object.values(stacks)) stack.remove();
  }
  return life;
}

/**
 * @param {Step} step
 * @param {number} count
 * @param {readonly Life[]} lives
 * @returns {import("../runner").Row[]}
 */
function rowsOf(step, count, lives) {
  const name = step === "update" ? `update of one field of ${count}` : `${step} of ${count}`;
  const values = (/** @type {Kind} */ kind, /** @type {keyof Measured} */ figure) =>
    lives.map((life) => life[step][kind][figure]);
  const difference = (
    /** @type {string} */ what,
    /** @type {Kind} */ kind,
    /** @type {keyof Measured} */ figure,
    /** @type {Kind} */ other = "floor",
  ) => ({
    what: `${name}${what}`,
    unit: "s",
    ours: values(kind, figure),
    against: other === "floor" ? "the floor" : "pulumi.dynamic.Resource",
    theirs: values(other, figure),
    judged: /** @type {const} */ ("difference"),
    mark: { atMost: MARKS[step] },
  });
  return [
    difference(", no checkpoints", "ours", "seconds"),
    difference(", no checkpoints", "ours", "seconds", "usual"),
    difference(", no checkpoints, over REST v2", "v2", "seconds"),
    ...(step === "destroy" ? [] : [difference(": processor time of the program", "ours", "program")]),
    difference(": processor time of the provider", "ours", "provider"),
    {
      what: `${name} over REST v2: requests for each endpoint`,
      unit: "",
      ours: values("v2", "requests").map((requests) => requests / count),
      judged: "value",
      // A deletion scales the endpoint to zero, reads its workers and deletes it. Lists are extra.
      mark: { atMost: step === "destroy" ? 3.3 : 1.1 },
    },
  ];
}

module.exports = { title: "our own share: the same without the engine's checkpoints", run };
