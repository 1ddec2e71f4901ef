// Writes docs/images/scaling-timeline.svg: the jobs and workers of an endpoint over a minute, as
// the emulator plays them.
const fs = require("node:fs");
const path = require("node:path");
const { svg } = require("./svg");

const TIMELINE_FILE = path.resolve(__dirname, "../docs/images/scaling-timeline.svg");

/** @typedef {Pick<typeof import("../emulator"), "startEmulator" | "manualClock">} EmulatorModule */

/** Times are in seconds. */
const SCENARIO = {
  endpoint: { scalerType: "QUEUE_DELAY", scalerValue: 4, workersMin: 0, workersMax: 3, idleTimeout: 10 },
  coldStart: 6,
  jobTakes: 10,
  jobsAt: [2, 3, 4, 5, 6, 30],
  end: 56,
};

const STEP_MS = 500;

/**
 * @typedef {object} Timeline times in seconds
 * @property {{ submittedAt: number, startedAt: number, endedAt: number }[]} jobs
 * @property {{ at: number, starting: number, running: number, idle: number }[]} workers at each
 * step
 */

/**
 * Plays the scenario on a manual clock, so that every run is the same.
 * @param {EmulatorModule} emulatorModule
 * @returns {Promise<Timeline>}
 */
async function playTimeline({ startEmulator, manualClock }) {
  const clock = manualClock(0);
  const emulator = await startEmulator({
    clock,
    // This profile's health also counts starting workers.
    profile: "observed",
    coldStartMs: SCENARIO.coldStart * 1000,
    handlers: { default: (_job, { sleep }) => sleep(SCENARIO.jobTakes * 1000) },
  });
  try {
    const endpoint = { name: "timeline", gpuIds: "AMPERE_24", templateId: "template", ...SCENARIO.endpoint };
    const { id: endpointId } = emulator.endpoints.create(endpoint);
    const headers = { authorization: emulator.apiKey };
    /** @type {(operation: string, init?: RequestInit) => Promise<any>} */
    const ask = async (operation, init) =>
      (await fetch(`${emulator.url}/v2/${endpointId}/${operation}`, { headers, ...init })).json();
    const ids = [];
    const workers = [];
    for (let at = 0; at <= SCENARIO.end; at = clock.now() / 1000) {
      for (const time of SCENARIO.jobsAt) {
        if (time === at) ids.push((await ask("run", { method: "POST", body: '{"input":{}}' })).id);
      }
      const { initializing, running, idle } = (await ask("health")).workers;
      workers.push({ at, starting: initializing, running, idle });
      await clock.advance(STEP_MS);
    }
    const jobs = [];
    for (const [index, submittedAt] of SCENARIO.jobsAt.entries()) {
      const { delayTime, executionTime } = await ask(`status/${ids[index]}`);
      const startedAt = submittedAt + delayTime / 1000;
      jobs.push({ submittedAt, startedAt, endedAt: startedAt + executionTime / 1000 });
    }
    return { jobs, workers };
  } finally {
    await emulator.stop();
  }
}

const WIDTH = 860;
const LEFT = 140;
const RIGHT = 20;
const ROW = 22;
const TOP = 56;
const GAP = 20;

/** Grays and colors that are legible on white and on black. */
const STYLE = `
text { fill: #6e7681; font: 13px sans-serif }
.title { font-weight: bold } .end { text-anchor: end } .middle { text-anchor: middle }
.grid { stroke: #8b949e; stroke-opacity: .25 } .mark { stroke: #8b949e; stroke-dasharray: 3 3 }
.waiting { fill: #d29922; fill-opacity: .35; stroke: #d29922 } .running { fill: #2f81f7 }
.starting { fill: #d29922 } .idle { fill: #3fb950 }
.letter { fill: #6e7681 } .letter + text { fill: #ffffff; font-weight: bold; text-anchor: middle }`;

/** @typedef {"starting" | "running" | "idle"} WorkerState */
/** @type {readonly WorkerState[]} */
const WORKER_STATES = ["starting", "running", "idle"];

/** @param {number} number */
const rounded = (number) => Math.round(number * 10) / 10;
/** @param {number} seconds */
const x = (seconds) => rounded(LEFT + (seconds / SCENARIO.end) * (WIDTH - LEFT - RIGHT));

/**
 * Returns an SVG picture: a row for each job, the workers by state below, and a list of what
 * happened when.
 * @param {Timeline} timeline
 */
function drawTimeline({ jobs, workers }) {
  const { scalerType, scalerValue, workersMin, workersMax, idleTimeout } = SCENARIO.endpoint;
  const workersTop = TOP + jobs.length * ROW + GAP;
  const bottom = workersTop + workersMax * ROW;
  const events = eventsOf({ jobs, workers });
  const settings =
    `${scalerType} ${scalerValue} s, workersMin ${workersMin}, workersMax ${workersMax}, idleTimeout ${idleTimeout} s; ` +
    `a cold start takes ${SCENARIO.coldStart} s, a job ${SCENARIO.jobTakes} s`;
  const facts = {
    width: WIDTH,
    height: bottom + 44 + events.length * 20,
    title: "Jobs and workers of an endpoint over a minute",
    description: `${settings}. ${events.map(({ at, text }) => `${at} s: ${text}.`).join(" ")}`,
    style: STYLE,
  };
  return svg(facts, [
    `<text x="0" y="16">${settings}</text>`,
    ...Array.from({ length: Math.floor(SCENARIO.end / 10) + 1 }, (_, index) => tick(index * 10, bottom)),
    ...events.flatMap(({ at, letter }) => [line("mark", x(at), TOP - 6, bottom), letterAt(x(at), TOP - 12, letter)]),
    ...legend(TOP, "Jobs", { waiting: "in the queue", running: "in progress" }),
    ...jobs.flatMap(({ submittedAt, startedAt, endedAt }, index) => [
      ...bar("waiting", submittedAt, startedAt, TOP + index * ROW + 4, ROW - 8),
      ...bar("running", startedAt, endedAt, TOP + index * ROW + 4, ROW - 8),
    ]),
    ...legend(workersTop, "Workers", { starting: "starting", running: "running a job", idle: "idle" }),
    ...workerBars(workers, bottom),
    ...events.flatMap(({ at, text, letter }, index) => {
      const y = bottom + 52 + index * 20;
      const time = `<text class="end" x="64" y="${y}">${at} s</text>`;
      return [letterAt(8, y - 4, letter), `${time}<text x="76" y="${y}">${text}</text>`];
    }),
  ]);
}

/** @param {Timeline} timeline */
function eventsOf({ jobs, workers }) {
  const { scalerValue, idleTimeout } = SCENARIO.endpoint;
  /** @param {(sample: Timeline["workers"][number] & { all: number }) => boolean} holds */
  const first = (holds) =>
    workers.find((sample) => holds({ ...sample, all: sample.starting + sample.running + sample.idle }))?.at ??
    Number.NaN;
  const startedAt = first(({ all }) => all > 0);
  const readyAt = first(({ running }) => running > 0);
  const warm = jobs.find(({ submittedAt, startedAt }) => submittedAt === startedAt);
  const lastEndedAt = Math.max(...jobs.map(({ endedAt }) => endedAt));
  /** @type {[at: number, text: string][]} */
  const events = [
    [startedAt, "the first job arrives, and a worker starts for it"],
    [first(({ all }) => all > 1), `a second job has waited ${scalerValue} s, and another worker starts; soon a third`],
    [readyAt, `the first worker is ready, ${readyAt - startedAt} s after its start, and takes the first job`],
    [first(({ idle }) => idle > 0), "no job is waiting any longer: the first worker is idle"],
    [warm?.submittedAt ?? Number.NaN, "a job arrives while a worker is idle, and does not wait"],
    [
      first(({ at, all }) => at > lastEndedAt && all === 0),
      `${idleTimeout} s after the last job the last worker has stopped: the endpoint is at zero again`,
    ],
  ];
  return events.map(([at, text], index) => ({ at, text, letter: "abcdef".charAt(index) }));
}

/** @type {(seconds: number, bottom: number) => string} */
const tick = (seconds, bottom) =>
  `${line("grid", x(seconds), TOP, bottom)}<text class="middle" x="${x(seconds)}" y="${bottom + 18}">${seconds} s</text>`;

/** @type {(kind: string, x: number, top: number, bottom: number) => string} */
const line = (kind, x, top, bottom) => `<line class="${kind}" x1="${x}" x2="${x}" y1="${top}" y2="${bottom}"/>`;

/** @type {(x: number, y: number, letter: string) => string} */
const letterAt = (x, y, letter) =>
  `<circle class="letter" cx="${x}" cy="${y}" r="7.5"/><text x="${x}" y="${y + 4}">${letter}</text>`;

/** @type {(top: number, title: string, kinds: Record<string, string>) => string[]} */
const legend = (top, title, kinds) => [
  `<text class="title" x="0" y="${top + 12}">${title}</text>`,
  ...Object.entries(kinds).map(([kind, text], index) => {
    const y = top + 30 + index * 18;
    return `<rect class="${kind}" x="1" y="${y - 10}" width="11" height="11"/><text x="19" y="${y}">${text}</text>`;
  }),
];

/**
 * Returns bars from change to change: starting workers at the bottom, idle ones at the top.
 * @param {Timeline["workers"]} workers
 * @param {number} bottom
 */
function workerBars(workers, bottom) {
  const changes = workers.filter((sample, index) =>
    WORKER_STATES.some((state) => sample[state] !== workers[index - 1]?.[state]),
  );
  return changes.flatMap((sample, index) => {
    let y = bottom;
    return WORKER_STATES.flatMap((state) => {
      y -= sample[state] * ROW;
      return bar(state, sample.at, changes[index + 1]?.at ?? SCENARIO.end, y, sample[state] * ROW);
    });
  });
}

/** @type {(kind: string, start: number, end: number, y: number, height: number) => string[]} */
function bar(kind, start, end, y, height) {
  const width = rounded(x(end) - x(start));
  if (width === 0 || height === 0) return [];
  return [`<rect class="${kind}" x="${x(start)}" y="${y}" width="${width}" height="${height}"/>`];
}

if (require.main === module) {
  // Not a literal, so that types do not depend on when the package was built.
  playTimeline(require(path.join(__dirname, "../dist/emulator"))).then((timeline) => {
    fs.mkdirSync(path.dirname(TIMELINE_FILE), { recursive: true });
    fs.writeFileSync(TIMELINE_FILE, drawTimeline(timeline));
  });
}

module.exports = { playTimeline, drawTimeline, TIMELINE_FILE };
