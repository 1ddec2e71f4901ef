/**
 * Decides what `pipeline.sh tick` may apply.
 *
 *   node tick.js deployed reads the JSON of `pulumi stack history` from stdin, and prints the
 *   commit of the last update that succeeded
 *   node tick.js messages reads the JSON of a failed `pulumi preview` from stdin, and prints its
 *   messages
 *   node tick.js changes [interrupted] reads the JSON of `pulumi preview` from stdin, and prints
 *   what would change. Exits with 10 if only worker counts would change that a schedule or getSpend
 *   decides, with 0 if nothing would change, and with 1 otherwise. After an interrupted tick it
 *   also accepts an update that only verifies what that tick has written
 *   node tick.js targets reads the same JSON, and prints the URNs of the endpoints of which only
 *   such counts would change, whatever else would change at other resources
 */
const { readFileSync } = require("node:fs");
const { isDeepStrictEqual } = require("node:util");

/**
 * @typedef {Record<string, unknown>} Values
 * @typedef {{ op: string, urn: string, oldState?: { inputs?: Values }, newState?: { inputs?: Values },
 * detailedDiff?: Record<string, unknown> | null }} Step
 * @typedef {{ steps?: Step[] | null, diagnostics?: { message?: string, severity?: string }[] }} Preview
 */

const ONLY_COUNTS = 10;
const COUNTS = ["workersMin", "workersMax"];
const [, , command, isInterrupted] = process.argv;

/** @param {{ kind: string, result: string, environment?: Record<string, string> }[]} history */
function deployed(history) {
  const last = history.find(({ kind, result }) => kind === "update" && result === "succeeded");
  console.log(last?.environment?.["git.head"] ?? "");
}

/**
 * Returns the fields that an update changes; `undefined` if it does not list them, because it then
 * does more than it shows, such as finishing an interrupted change.
 * @param {Step} step
 */
function changedFields({ oldState, newState, detailedDiff }) {
  const listed = Object.keys(detailedDiff ?? {});
  if (listed.length > 0) return listed;
  if (!isInterrupted) return undefined;
  const [before, after] = [oldState?.inputs ?? {}, newState?.inputs ?? {}];
  return Object.keys({ ...before, ...after }).filter((field) => !isDeepStrictEqual(before[field], after[field]));
}

/**
 * Returns `true` if a step only changes counts that something decides.
 * @param {Step} step
 * @param {boolean} spends
 */
function changesCounts(step, spends) {
  const { op, urn, newState } = step;
  const fields = changedFields(step);
  const { schedule } = /** @type {{ schedule?: { rules?: Values[] } }} */ (newState?.inputs ?? {});
  /** @param {string} field */
  const isDecided = (field) => spends || schedule?.rules?.some((rule) => rule[field] !== undefined);
  const isOwn = op === "update" && urn.includes(":ServerlessEndpoint::") && fields !== undefined;
  return isOwn && fields.every((field) => COUNTS.includes(field) && isDecided(field));
}

/**
 * Returns what the run said.
 * @param {Preview} preview
 */
function messagesOf({ diagnostics = [] }) {
  return diagnostics.map(({ message = "" }) => message.replace(/<\{%.*?%\}>/g, "").trim());
}

/** @param {Preview} preview */
function printMessages(preview) {
  for (const message of messagesOf(preview)) if (message !== "") console.log(message);
}

/**
 * Returns the steps that change something: all of them, and those that only change counts.
 * @param {Preview} preview
 */
function changedSteps({ steps, ...preview }) {
  const spends = messagesOf(preview).some((message) => /^getSpend: /m.test(message));
  const changed = (steps ?? []).filter(({ op }) => !["same", "read", "refresh"].includes(op));
  return { changed, ofCounts: changed.filter((step) => changesCounts(step, spends)) };
}

/** @param {Preview} preview */
function changes(preview) {
  printMessages(preview);
  const { changed, ofCounts } = changedSteps(preview);
  for (const step of changed) {
    const { op, urn, oldState, newState } = step;
    const name = urn.slice(urn.lastIndexOf("::") + 2);
    const fields = changedFields(step)?.map((field) =>
      COUNTS.includes(field) ? `${field} ${oldState?.inputs?.[field]} → ${newState?.inputs?.[field]}` : field,
    );
    console.log(`${op} ${name}: ${fields?.join(", ") ?? "the preview lists no fields"}`);
  }
  if (ofCounts.length < changed.length) return 1;
  return changed.length > 0 ? ONLY_COUNTS : 0;
}

/** @param {Preview} preview */
function targets(preview) {
  for (const { urn } of changedSteps(preview).ofCounts) console.log(urn);
}

// A preview that fails at once, such as without a backend, prints no JSON.
const input = JSON.parse(readFileSync(0, "utf8") || "{}");
if (command === "deployed") deployed(input);
else if (command === "messages") printMessages(input);
else if (command === "targets") targets(input);
else process.exitCode = changes(input);
