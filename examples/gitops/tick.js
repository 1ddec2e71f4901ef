/**
 * Decides what `pipeline.sh tick` may apply.
 *
 *   node tick.js deployed reads the JSON of `pulumi stack history` from stdin, and prints the commit
 *   of the last update that succeeded
 *   node tick.js changes reads the JSON of `pulumi preview` from stdin, and prints what would change.
 *   Exits with 10 if only worker counts would change that a schedule or getSpend decides, with 0 if
 *   nothing would change, and with 1 otherwise
 */
const { readFileSync } = require("node:fs");

/**
 * @typedef {Record<string, unknown>} Values
 * @typedef {{ op: string, urn: string, oldState?: { inputs?: Values }, newState?: { inputs?: Values },
 * detailedDiff?: Record<string, unknown> | null }} Step
 * @typedef {{ steps?: Step[] | null, diagnostics?: { message?: string, severity?: string }[] }} Preview
 */

const ONLY_COUNTS = 10;
const COUNTS = ["workersMin", "workersMax"];

/** @param {{ kind: string, result: string, environment?: Record<string, string> }[]} history */
function deployed(history) {
  const last = history.find(({ kind, result }) => kind === "update" && result === "succeeded");
  console.log(last?.environment?.["git.head"] ?? "");
}

/**
 * Returns the counts that an update changes, if it changes nothing else. An update without a list of
 * fields does more than it shows, such as finishing an interrupted change.
 * @param {Step} step
 * @param {boolean} spends
 */
function changedCounts({ op, urn, newState, detailedDiff }, spends) {
  const fields = Object.keys(detailedDiff ?? {});
  const { schedule } = /** @type {{ schedule?: { rules?: Values[] } }} */ (newState?.inputs ?? {});
  /** @param {string} field */
  const isDecided = (field) => spends || schedule?.rules?.some((rule) => rule[field] !== undefined);
  const isOwn = op === "update" && urn.includes(":ServerlessEndpoint::") && fields.length > 0;
  return isOwn && fields.every((field) => COUNTS.includes(field) && isDecided(field)) ? fields : undefined;
}

/** @param {Preview} preview */
function changes({ steps, diagnostics = [] }) {
  const messages = diagnostics.map(({ message = "" }) => message.replace(/<\{%.*?%\}>/g, "").trim());
  for (const message of messages) if (message !== "") console.log(message);
  const spends = messages.some((message) => message.startsWith("getSpend: "));
  const changed = (steps ?? []).filter(({ op }) => !["same", "read", "refresh"].includes(op));
  const others = changed.filter((step) => !changedCounts(step, spends));
  for (const { op, urn, oldState, newState, detailedDiff } of changed) {
    const name = urn.slice(urn.lastIndexOf("::") + 2);
    const fields = Object.keys(detailedDiff ?? {}).map((field) =>
      COUNTS.includes(field) ? `${field} ${oldState?.inputs?.[field]} → ${newState?.inputs?.[field]}` : field,
    );
    console.log(`${op} ${name}: ${fields.join(", ") || "the preview lists no fields"}`);
  }
  if (others.length > 0) return 1;
  return changed.length > 0 ? ONLY_COUNTS : 0;
}

const [, , command] = process.argv;
const input = JSON.parse(readFileSync(0, "utf8"));
if (command === "deployed") deployed(input);
else process.exitCode = changes(input);
