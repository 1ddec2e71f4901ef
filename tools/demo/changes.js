/** @typedef {import("pulumi-serverless-gpu/emulator").EmulatedEndpoint} Endpoint */

/** The fields that describe a new endpoint. */
const SHOWN = /** @type {const} */ (["gpuIds", "locations", "workersMax"]);

/**
 * Describes the changes at the service, one line for each endpoint.
 * @param {Endpoint[]} before
 * @param {Endpoint[]} after
 * @returns {string[]}
 */
function changesBetween(before, after) {
  const added = after.filter(({ id }) => !before.some((old) => old.id === id));
  const removed = before.filter(({ id }) => !after.some((endpoint) => endpoint.id === id));
  const changed = after.flatMap((endpoint) => {
    const old = before.find(({ id }) => id === endpoint.id);
    const fields = old ? differences(old, endpoint) : [];
    return fields.length > 0 ? [`~ ${endpoint.name}  ${fields.join("  ")}`] : [];
  });
  return [
    ...added.map((endpoint) => `+ ${endpoint.name}  ${described(endpoint)}`),
    ...changed,
    ...removed.map(({ name }) => `- ${name}`),
  ];
}

/** @param {Endpoint} endpoint */
function described(endpoint) {
  return SHOWN.filter((field) => endpoint[field] !== "")
    .map((field) => `${field}: ${endpoint[field]}`)
    .join("  ");
}

/**
 * @param {Endpoint} old
 * @param {Endpoint} endpoint
 */
function differences(old, endpoint) {
  const values = /** @type {Record<string, unknown>} */ ({ ...endpoint });
  return Object.entries(old)
    .filter(([field, value]) => field !== "version" && typeof value !== "object" && value !== values[field])
    .map(([field, value]) => `${field}: ${value} → ${values[field]}`);
}

/**
 * Returns the changed fields that Pulumi's output shows.
 * @param {string} output
 * @returns {string[]}
 */
function changesIn(output) {
  return [...output.matchAll(/^ +~ (\w+) *: (.*) => (.*)$/gm)].map(
    ([, field, old, value]) => `~ ${field}: ${old} → ${value}`,
  );
}

module.exports = { changesBetween, changesIn };
