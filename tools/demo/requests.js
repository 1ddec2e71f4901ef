/** @typedef {import("pulumi-serverless-gpu/emulator").JournalEntry} JournalEntry */

/**
 * Describes the requests to the service, one line for each. Repeated lines are counted.
 * @param {JournalEntry[]} requests
 */
function describeRequests(requests) {
  if (requests.length === 0) return "The service got no requests.";
  /** @type {{ text: string, count: number }[]} */
  const lines = [];
  for (const text of requests.map(describe)) {
    const last = lines.at(-1);
    if (last?.text === text) last.count++;
    else lines.push({ text, count: 1 });
  }
  return [
    "The service got these requests:",
    ...lines.map(({ text, count }) => `    ${text}${count > 1 ? `  (${count} times)` : ""}`),
  ].join("\n");
}

/**
 * Counts the requests by their operation, in one line.
 * @param {JournalEntry[]} requests
 */
function summarizeRequests(requests) {
  if (requests.length === 0) return "no requests";
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { operation } of requests) counts.set(operation, (counts.get(operation) ?? 0) + 1);
  return `requests: ${[...counts].map(([operation, count]) => `${count} × ${NAMES[operation] ?? operation}`).join(", ")}`;
}

/**
 * Operations whose name in the service's schema does not say what they do. @type
 * {Readonly<Record<string, string>>}
 */
const NAMES = { myself: "list", listEndpoints: "list", listWorkers: "list of workers" };

/** @param {JournalEntry} request */
function describe({ operation, endpointId, arguments: args, outcome }) {
  const { id, ...fields } = /** @type {Record<string, unknown>} */ (args.input ?? args);
  const subject = endpointId ?? id ?? "";
  const shown = Object.entries(fields).map(([field, value]) => `${field}: ${JSON.stringify(value)}`);
  return `${NAMES[operation] ?? operation} ${subject} ${shown.join(", ")}${outcome === "error" ? " → refused" : ""}`
    .replace(/\s+/g, " ")
    .trim();
}

module.exports = { describeRequests, summarizeRequests };
