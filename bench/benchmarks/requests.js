const fs = require("node:fs");
const path = require("node:path");
const {
  APIS,
  COMMANDS,
  FEATURES,
  FLEETS,
  FLOOR,
  KEPT,
  KEPT_GOAL,
  allowedSeconds,
  goalOf,
  play,
} = require("../requests");

/** @typedef {import("../requests").Api} Api */
/** @typedef {import("../runner").Row} Row */

const PAGE = path.join(__dirname, "../../docs/how-to/large-fleets.md");
const BEGIN = "<!-- The table is written by `npm run bench -- requests`. -->";
const END = "<!-- The end of the table. -->";
const apis = /** @type {Api[]} */ (Object.keys(APIS));

/** @param {import("../runner").Settings} settings */
async function run({ quick, log }) {
  const [judged, counts] = quick ? [20, [1, 20]] : [100, [1, 20, 100, 300]];
  /** @type {Row[]} */
  const rows = [];
  /** @type {string[]} */
  const lines = [];
  const worst = { refused: 0, slowness: 0, refresh: 0 };
  for (const api of apis) {
    for (const fleet of Object.values(FLEETS)) {
      for (const count of counts) {
        const measured = await play(api, fleet, count);
        const cells = COMMANDS.map((command) => {
          const { requests, refused, seconds, operations } = measured[command];
          const what = `${command} of ${count} with ${fleet.what} over ${APIS[api].title}`;
          log(
            `${what}: ${requests} requests, ${refused} refused, ${Math.round(seconds)} s ${JSON.stringify(operations)}`,
          );
          if (count === judged && command !== "refresh") {
            const atMost = goalOf(api, command, count) / count;
            rows.push(valueRow(`${what}: requests for each`, requests / count, atMost));
          }
          // This is 0 if the limits allow all requests within the first minute.
          const allowed = allowedSeconds(api, requests);
          worst.refused = Math.max(worst.refused, refused);
          worst.slowness = Math.max(worst.slowness, allowed === 0 ? 0 : seconds / allowed);
          if (command === "refresh") worst.refresh = Math.max(worst.refresh, requests);
          const floor = Math.max(1, FLOOR[api][command] * count);
          return `${requests} (${floor}), ${Math.max(1, Math.round(seconds))} s`;
        });
        lines.push(`| ${APIS[api].title} | ${fleet.what} | ${count} | ${cells.join(" | ")} |`);
      }
    }
  }
  if (!quick) writeTable(lines);
  return [
    ...rows,
    valueRow(`refresh of up to ${counts.at(-1)} with the quotas: most requests`, worst.refresh, 3),
    valueRow(`a command of up to ${counts.at(-1)} with the quotas: most refused requests`, worst.refused, 1),
    valueRow(`the same: longest time over what the quotas allow`, worst.slowness, 1.15),
    ...(await featureRows(log)),
    await keptRow(log),
  ];
}

/**
 * @param {string} what
 * @param {number} value
 * @param {number} atMost
 * @returns {Row}
 */
function valueRow(what, value, atMost) {
  return { what, unit: "", judged: "value", ours: [value], mark: { atMost } };
}

/**
 * The most requests for each endpoint: with `awaitReady` in an `up`, and with a rollout in an
 * update.
 */
const FEATURE_GOALS = { graphql: { ready: 1.3, rollOut: 3.2 }, v2: { ready: 1.3, rollOut: 4.8 } };

/**
 * @param {(line: string) => void} log
 * @returns {Promise<Row[]>}
 */
async function featureRows(log) {
  /** @type {Row[]} */
  const rows = [];
  for (const api of apis) {
    for (const [name, fleet] of Object.entries(FEATURES)) {
      const { up, update } = await play(api, fleet, 20);
      const { requests, operations } = name === "ready" ? up : update;
      const what = `${fleet.what} of 20 over ${APIS[api].title}: requests for each, of the management API`;
      log(`${what}: ${requests / 20} ${JSON.stringify(operations)}`);
      const goal = FEATURE_GOALS[api][/** @type {"ready" | "rollOut"} */ (name)];
      rows.push(valueRow(what, requests / 20, goal));
    }
  }
  return rows;
}

/**
 * @param {(line: string) => void} log
 * @returns {Promise<Row>}
 */
async function keptRow(log) {
  const { requests, operations } = (await play("graphql", KEPT, 100)).destroy;
  const what = `destroy of 100 with ${KEPT.what} over GraphQL: requests for each`;
  log(`${what}: ${requests / 100} ${JSON.stringify(operations)}`);
  return valueRow(what, requests / 100, KEPT_GOAL);
}

/** @param {readonly string[]} lines */
function writeTable(lines) {
  const text = fs.readFileSync(PAGE, "utf8");
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`${PAGE} does not have the marks of the table`);
  const head = [
    "| API | Endpoints with | Number | `up` | `update` | `refresh` | `destroy` |",
    "|---|---|--:|--:|--:|--:|--:|",
  ];
  fs.writeFileSync(
    PAGE,
    `${text.slice(0, from + BEGIN.length)}\n\n${[...head, ...lines].join("\n")}\n\n${text.slice(to)}`,
  );
}

module.exports = { title: "requests and seconds with RunPod's quotas", run };
