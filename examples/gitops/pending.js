/**
 * Reads the output of `pulumi stack export` from stdin, and prints the pending operations of a
 * killed run, one in each line: `updating <URN>`. A create is left out if the state contains the
 * resource by now, because Pulumi keeps pending creates until
 * `pulumi refresh --clear-pending-creates`.
 */
const { readFileSync } = require("node:fs");

/**
 * @typedef {{ urn: string, pendingReplacement?: boolean }} Resource
 * @typedef {{ resources?: Resource[], pending_operations?: { type: string, resource: Resource }[]
 * }} Deployment
 */

/** @type {{ deployment: Deployment }} */
const { deployment } = JSON.parse(readFileSync(0, "utf8"));
const existing = (deployment.resources ?? []).filter(({ pendingReplacement }) => !pendingReplacement);
const inState = new Set(existing.map(({ urn }) => urn));
for (const { type, resource } of deployment.pending_operations ?? []) {
  if (type !== "creating" || !inState.has(resource.urn)) console.log(`${type} ${resource.urn}`);
}
