/** @typedef {import("./scalingTimeline").Timeline} Timeline */

const WIDTH = 860;
const LEFT = 140;
const RIGHT = 20;
const ROW = 22;
const TOP = 56;
const GAP = 20;

/** Greys and colours that can be read on white and on black. */
const STYLE = `
text { fill: #6e7681; font: 13px sans-serif }
.title { font-weight: bold } .end { text-anchor: end } .middle { text-anchor: middle }
.grid { stroke: #8b949e; stroke-opacity: .25 } .mark { stroke: #8b949e; stroke-dasharray: 3 3 }
.waiting { fill: #d29922; fill-opacity: .35; stroke: #d29922 } .running { fill: #2f81f7 }
.starting { fill: #d29922 } .idle { fill: #3fb950 }
.letter { fill: #6e7681 } .letter + text { fill: #ffffff; font-weight: bold; text-anchor: middle }`;

/**
 * The timeline as an SVG picture: a row for each job, below it the workers by what they do, and what happened when.
 * @param {Timeline} timeline
 */
function drawTimeline(timeline) {
  const { scenario, jobs } = timeline;
  const { scalerType, scalerValue, workersMin, workersMax, idleTimeout } = scenario.endpoint;
  const x = scale(scenario.end);
  const workersTop = TOP + jobs.length * ROW + GAP;
  const bottom = workersTop + workersMax * ROW;
  const events = eventsOf(timeline);
  const height = bottom + 44 + events.length * 20;
  const settings =
    `${scalerType} ${scalerValue} s, workersMin ${workersMin}, workersMax ${workersMax}, idleTimeout ${idleTimeout} s; ` +
    `a cold start takes ${scenario.coldStart} s, a job ${scenario.jobTakes} s`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    "<title>Jobs and workers of an endpoint over a minute</title>",
    `<desc>${settings}. ${events.map(({ at, text }) => `${at} s: ${text}.`).join(" ")}</desc>`,
    `<style>${STYLE}\n</style>`,
    `<text x="0" y="16">${settings}</text>`,
    ...drawAxis(x, scenario.end, TOP, bottom),
    ...events.flatMap((event, index) => drawMark(x(event.at), letter(index), TOP, bottom)),
    ...drawLegend(TOP, "Jobs", [
      ["waiting", "in the queue"],
      ["running", "in progress"],
    ]),
    ...jobs.flatMap((job, index) => drawJob(x, job, TOP + index * ROW)),
    ...drawLegend(workersTop, "Workers", [
      ["starting", "starting"],
      ["running", "running a job"],
      ["idle", "idle"],
    ]),
    ...drawWorkers(x, timeline, bottom),
    ...events.flatMap(({ at, text }, index) => drawEvent(letter(index), `${at} s`, text, bottom + 52 + index * 20)),
    "</svg>",
    "",
  ].join("\n");
}

/** @param {Timeline} timeline */
function eventsOf({ scenario, jobs, workers }) {
  const { scalerValue, idleTimeout } = scenario.endpoint;
  const counts = workers.map(({ at, starting, running, idle }) => ({
    at,
    all: starting + running + idle,
    running,
    idle,
  }));
  /** @param {(sample: (typeof counts)[number]) => boolean} holds */
  const first = (holds) => counts.find(holds)?.at ?? Number.NaN;
  const startedAt = first(({ all }) => all > 0);
  const secondAt = first(({ all }) => all > 1);
  const readyAt = first(({ running }) => running > 0);
  const idleAt = first(({ idle }) => idle > 0);
  const warm = jobs.find(({ submittedAt, startedAt }) => submittedAt === startedAt);
  const lastEndedAt = Math.max(...jobs.map(({ endedAt }) => endedAt));
  const emptyAt = first(({ at, all }) => at > lastEndedAt && all === 0);
  return [
    { at: startedAt, text: "the first job comes, and a worker starts for it" },
    { at: secondAt, text: `a second job has waited ${scalerValue} s, and another worker starts; soon a third` },
    {
      at: readyAt,
      text: `the first worker is ready, ${readyAt - startedAt} s after its start, and takes the first job`,
    },
    { at: idleAt, text: "no job waits any more: the first worker is idle" },
    { at: warm?.submittedAt ?? Number.NaN, text: "a job comes while a worker is idle, and does not wait" },
    {
      at: emptyAt,
      text: `${idleTimeout} s after the last job the last worker has stopped: the endpoint is at zero again`,
    },
  ];
}

/** @param {number} index */
const letter = (index) => String.fromCharCode("a".charCodeAt(0) + index);

/**
 * @param {number} end
 * @returns {(seconds: number) => number}
 */
function scale(end) {
  return (seconds) => Math.round((LEFT + (seconds / end) * (WIDTH - LEFT - RIGHT)) * 10) / 10;
}

/** @typedef {ReturnType<typeof scale>} Scale */

/**
 * @param {Scale} x
 * @param {number} end
 * @param {number} top
 * @param {number} bottom
 */
function drawAxis(x, end, top, bottom) {
  const ticks = Array.from({ length: Math.floor(end / 10) + 1 }, (_, index) => index * 10);
  return ticks.map(
    (tick) =>
      `<line class="grid" x1="${x(tick)}" x2="${x(tick)}" y1="${top}" y2="${bottom}"/>` +
      `<text class="middle" x="${x(tick)}" y="${bottom + 18}">${tick} s</text>`,
  );
}

/**
 * @param {number} x
 * @param {string} name
 * @param {number} top
 * @param {number} bottom
 */
function drawMark(x, name, top, bottom) {
  return [`<line class="mark" x1="${x}" x2="${x}" y1="${top - 6}" y2="${bottom}"/>`, ...drawLetter(x, top - 12, name)];
}

/**
 * @param {number} x
 * @param {number} y
 * @param {string} name
 */
function drawLetter(x, y, name) {
  return [`<circle class="letter" cx="${x}" cy="${y}" r="7.5"/><text x="${x}" y="${y + 4}">${name}</text>`];
}

/**
 * @param {string} name
 * @param {string} time
 * @param {string} text
 * @param {number} y
 */
function drawEvent(name, time, text, y) {
  return [
    ...drawLetter(8, y - 4, name),
    `<text class="end" x="64" y="${y}">${time}</text><text x="76" y="${y}">${text}</text>`,
  ];
}

/**
 * @param {number} top
 * @param {string} title
 * @param {[kind: string, text: string][]} kinds
 */
function drawLegend(top, title, kinds) {
  const entries = kinds.map(([kind, text], index) => {
    const y = top + 30 + index * 18;
    return `<rect class="${kind}" x="1" y="${y - 10}" width="11" height="11"/><text x="19" y="${y}">${text}</text>`;
  });
  return [`<text class="title" x="0" y="${top + 12}">${title}</text>`, ...entries];
}

/**
 * @param {Scale} x
 * @param {Timeline["jobs"][number]} job
 * @param {number} y
 */
function drawJob(x, { submittedAt, startedAt, endedAt }, y) {
  return [
    ...drawBar("waiting", x(submittedAt), x(startedAt), y + 4, ROW - 8),
    ...drawBar("running", x(startedAt), x(endedAt), y + 4, ROW - 8),
  ];
}

/**
 * Bars from step to step, those who start at the bottom, the idle ones at the top.
 * @param {Scale} x
 * @param {Timeline} timeline
 * @param {number} bottom
 */
function drawWorkers(x, { workers, scenario }, bottom) {
  return changesOf(workers).flatMap((sample, index, changes) => {
    const right = x(changes[index + 1]?.at ?? scenario.end);
    let y = bottom;
    return /** @type {const} */ (["starting", "running", "idle"]).flatMap((kind) => {
      y -= sample[kind] * ROW;
      return drawBar(kind, x(sample.at), right, y, sample[kind] * ROW);
    });
  });
}

/** Only the samples that differ from the one before. @param {Timeline["workers"]} workers */
function changesOf(workers) {
  const counts = workers.map(({ at: _, ...count }) => JSON.stringify(count));
  return workers.filter((_, index) => counts[index] !== counts[index - 1]);
}

/**
 * @param {string} kind
 * @param {number} left
 * @param {number} right
 * @param {number} y
 * @param {number} height
 */
function drawBar(kind, left, right, y, height) {
  const width = Math.round((right - left) * 10) / 10;
  if (width === 0 || height === 0) return [];
  return [`<rect class="${kind}" x="${left}" y="${y}" width="${width}" height="${height}"/>`];
}

module.exports = { drawTimeline };
