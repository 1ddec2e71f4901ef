// Writes docs/images/scaling-timeline.svg: jobs and workers of an endpoint over a minute, as the emulator played them.
const fs = require("node:fs");
const path = require("node:path");
const { drawTimeline } = require("./timelineDrawing");

const TIMELINE_FILE = path.resolve(__dirname, "../docs/images/scaling-timeline.svg");

/** @typedef {Pick<typeof import("../emulator"), "startEmulator" | "manualClock">} EmulatorModule */

/** What is played. Times are in seconds. */
const SCENARIO = {
  endpoint: { scalerType: "QUEUE_DELAY", scalerValue: 4, workersMin: 0, workersMax: 3, idleTimeout: 10 },
  coldStart: 6,
  jobTakes: 10,
  jobsAt: [2, 3, 4, 5, 6, 30],
  end: 56,
};

const STEP_MS = 500;

/**
 * @typedef {object} Timeline what was seen, times in seconds
 * @property {typeof SCENARIO} scenario
 * @property {{ submittedAt: number, startedAt: number, endedAt: number }[]} jobs
 * @property {{ at: number, starting: number, running: number, idle: number }[]} workers at each step
 */

/**
 * Plays the scenario on a clock that is moved by hand: a second of it takes no time, and every run is the same.
 * @param {EmulatorModule} emulatorModule
 * @returns {Promise<Timeline>}
 */
async function playTimeline({ startEmulator, manualClock }) {
  const clock = manualClock(0);
  const emulator = await startEmulator({
    clock,
    // This one tells of the workers that start, too.
    profile: "observed",
    coldStartMs: SCENARIO.coldStart * 1000,
    handlers: { default: (_job, { sleep }) => sleep(SCENARIO.jobTakes * 1000) },
  });
  try {
    const endpoint = { name: "timeline", gpuIds: "AMPERE_24", templateId: "template", ...SCENARIO.endpoint };
    const { id } = emulator.endpoints.create(endpoint);
    const ask = askQueue(`${emulator.url}/v2/${id}`, emulator.apiKey);
    /** @type {{ id: string, submittedAt: number }[]} */
    const submitted = [];
    /** @type {Timeline["workers"]} */
    const workers = [];
    for (let at = 0; at <= SCENARIO.end; at = clock.now() / 1000) {
      for (const time of SCENARIO.jobsAt.filter((time) => time === at)) {
        submitted.push({ id: (await ask("POST", "run", { input: {} })).id, submittedAt: time });
      }
      const { initializing, running, idle } = (await ask("GET", "health")).workers;
      workers.push({ at, starting: initializing, running, idle });
      await clock.advance(STEP_MS);
    }
    const jobs = await Promise.all(submitted.map(async (job) => timesOf(job, await ask("GET", `status/${job.id}`))));
    return { scenario: SCENARIO, jobs, workers };
  } finally {
    await emulator.stop();
  }
}

/**
 * @param {string} queueUrl
 * @param {string} apiKey
 */
function askQueue(queueUrl, apiKey) {
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  /**
   * @param {"GET" | "POST"} method
   * @param {string} operation
   * @param {object} [body]
   * @returns {Promise<any>} the answer's JSON
   */
  return async function ask(method, operation, body) {
    const response = await fetch(`${queueUrl}/${operation}`, { method, headers, body: body && JSON.stringify(body) });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${operation} answered ${response.status}: ${JSON.stringify(answer)}`);
    return answer;
  };
}

/**
 * @param {{ submittedAt: number }} job
 * @param {{ delayTime: number, executionTime: number }} status
 */
function timesOf({ submittedAt }, { delayTime, executionTime }) {
  const startedAt = submittedAt + delayTime / 1000;
  return { submittedAt, startedAt, endedAt: startedAt + executionTime / 1000 };
}

if (require.main === module) {
  playTimeline(require("../dist/emulator")).then((timeline) => {
    fs.mkdirSync(path.dirname(TIMELINE_FILE), { recursive: true });
    fs.writeFileSync(TIMELINE_FILE, drawTimeline(timeline));
  });
}

module.exports = { playTimeline, TIMELINE_FILE };
