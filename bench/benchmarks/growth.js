const { startEmulator } = require("../../dist/emulator");
const { createStack, WITHOUT_CHECKPOINTS } = require("../engine");
const { metered } = require("../metered");
const { floor, ours } = require("../programs");
const { inTurn } = require("../runner");

/** The larger number of endpoints. */
const MANY = Number(process.env.MANY ?? 1000);

/**
 * @typedef {"ours" | "floor" | "lists" | "memory" | "floorMemory" | "held" | "heldByFew" |
 * "destroy"} Measure
 */

/** @param {import("../runner").Settings} settings */
async function run({ quick, log }) {
  const [few, many, runs] = quick ? [10, 50, 1] : [100, MANY, 2];
  /** @type {Record<Measure, number[]>} */
  const measured = {
    ours: [],
    floor: [],
    lists: [],
    memory: [],
    floorMemory: [],
    held: [],
    heldByFew: [],
    destroy: [],
  };
  // At RunPod, single endpoints can be read, so the provider verifies a deletion without listing
  // all endpoints. Its rate limits would determine the times.
  const emulator = await startEmulator({ profile: "observed", drainMs: 0, rateLimits: { limits: "off" } });

  /**
   * Measures the time of the first `up` (milliseconds per endpoint), the provider's peak memory and
   * its heap at the end (megabytes), the number of lists that the next refresh requests, and the
   * time of a destroy without checkpoints.
   * @param {string} program
   * @param {number} count
   */
  async function up(program, count) {
    emulator.reset();
    const stack = await createStack(program, emulator.env);
    const env = { COUNT: String(count), IDLE_TIMEOUT: "10" };
    try {
      const { ms, provider } = await metered(stack, ["up", "--yes", "--skip-preview"], env);
      const { megabytes, heldMegabytes } = provider;
      log(`${program === ours ? "ours" : "floor"}, ${count}: ${Math.round(ms)} ms, ${Math.round(megabytes)} MB`);
      const figures = { msEach: ms / count, megabytes, heldMegabytes };
      if (program === floor) return { ...figures, lists: 0, destroyMsEach: 0 };
      emulator.journal.clear();
      await stack.pulumi(["refresh", "--yes", "--skip-preview"], env);
      const lists = emulator.journal.requests().length;
      const destroyMs = await stack.pulumi(["destroy", "--yes", "--skip-preview"], { ...env, ...WITHOUT_CHECKPOINTS });
      log(`destroy of ${count}, no checkpoints: ${Math.round(destroyMs)} ms`);
      return { ...figures, lists, destroyMsEach: destroyMs / count };
    } finally {
      stack.remove();
    }
  }

  try {
    for (let run = 0; run < runs; run++) {
      const small = await inTurn(run, { ours: () => up(ours, few), floor: () => up(floor, few) });
      const large = await inTurn(run, { ours: () => up(ours, many), floor: () => up(floor, many) });
      measured.ours.push(large.ours.msEach / small.ours.msEach);
      measured.floor.push(large.floor.msEach / small.floor.msEach);
      measured.lists.push(large.ours.lists);
      measured.memory.push(large.ours.megabytes);
      measured.floorMemory.push(large.floor.megabytes);
      measured.held.push(large.ours.heldMegabytes);
      measured.heldByFew.push(small.ours.heldMegabytes);
      measured.destroy.push(large.ours.destroyMsEach / small.ours.destroyMsEach);
    }
  } finally {
    await emulator.stop();
  }
  return resultsOf(measured, many, few);
}

/**
 * @param {Record<Measure, number[]>} measured
 * @param {number} many
 * @param {number} few
 */
function resultsOf(measured, many, few) {
  return [
    {
      what: `time for each endpoint, up of ${many} over up of ${few}`,
      unit: "×",
      ours: measured.ours,
      against: "the floor",
      theirs: measured.floor,
      judged: "ratio",
      mark: { atMost: 1.1 },
    },
    {
      what: `provider process: largest memory, up of ${many}`,
      unit: "MB",
      ours: measured.memory,
      against: "the floor",
      theirs: measured.floorMemory,
      judged: "difference",
      mark: { atMost: 60 },
    },
    {
      what: `provider process: heap that it holds after up of ${many}`,
      unit: "MB",
      ours: measured.held,
      against: `up of ${few}`,
      theirs: measured.heldByFew,
      judged: "difference",
      mark: { atMost: 5 },
    },
    {
      // The value is 1 if the time grows in proportion to the number of endpoints. If it grew with
      // the square of the number, the value would be `many / few`.
      what: `time for each endpoint, destroy of ${many} over destroy of ${few}, no checkpoints`,
      unit: "×",
      ours: measured.destroy,
      judged: "value",
      mark: { atMost: 1.1 },
    },
    {
      what: `refresh of ${many}: lists asked for`,
      unit: "",
      ours: measured.lists,
      judged: "value",
      mark: { atMost: 3 },
    },
  ];
}

module.exports = { title: "growth with the number of endpoints", run };
