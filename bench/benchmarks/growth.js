const { startEmulator } = require("../../dist/emulator");
const { createStack } = require("../engine");
const { metered } = require("../metered");
const { floor, ours } = require("../programs");
const { inTurn } = require("../runner");

/** The larger number of endpoints. */
const MANY = Number(process.env.MANY ?? 1000);

/**
 * @typedef {"ours" | "floor" | "lists" | "memory" | "floorMemory" | "held" | "heldByFew"} Measure
 */

/** @param {import("../runner").Settings} settings */
async function run({ quick, log }) {
  const [few, many, runs] = quick ? [10, 50, 1] : [100, MANY, 2];
  /** @type {Record<Measure, number[]>} */
  const measured = { ours: [], floor: [], lists: [], memory: [], floorMemory: [], held: [], heldByFew: [] };
  const emulator = await startEmulator({ drainMs: 0 });

  /**
   * The time of the first `up`, in milliseconds for each endpoint, the provider's largest memory
   * and what it holds at the end, in megabytes, and the lists that a refresh after it asks for.
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
      if (program === floor || count === few) return { msEach: ms / count, megabytes, heldMegabytes, lists: 0 };
      emulator.journal.clear();
      await stack.pulumi(["refresh", "--yes", "--skip-preview"], env);
      return { msEach: ms / count, megabytes, heldMegabytes, lists: emulator.journal.requests().length };
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
      what: `refresh of ${many}: lists asked for`,
      unit: "",
      ours: measured.lists,
      judged: "value",
      mark: { atMost: 3 },
    },
  ];
}

module.exports = { title: "growth with the number of endpoints", run };
