import { isDeepStrictEqual } from "node:util";
import type { ServiceName } from "../contract/limits";
import { ENDPOINT_FIELDS, FIELDS, KEPT_FIELDS } from "../endpoints/fields";
import { areSeveral } from "../endpoints/networkVolumes";
import type { Endpoint, EndpointSettings } from "../endpoints/record";
import { BusinessRuleError } from "../errors/errors";
import { unsetValue } from "../records/fields";
import { type SaveInput, toSaveInput } from "./endpointFormat";
import type { KeptFields } from "./keptFields";

/**
 * The sources of endpoints that a change over GraphQL would damage, and how to change such
 * endpoints without damage.
 */
const SOURCES: Readonly<Record<string, string>> = {
  flashEnvironmentId: "It was deployed by the service's Flash tool. Change it there",
  repo: "It is built from a repository. Change it in the service's console",
  hubRelease: "It was deployed from the service's hub. Change it in the service's console",
};

/**
 * Checks that saving an endpoint cannot detach it from its source.
 * @throws BusinessRuleError that names the tool to use for the change
 */
export function refuseOtherSources({ id, name, kept = {} }: Endpoint): void {
  const source = Object.keys(SOURCES).find((field) => kept[field] !== undefined);
  if (source === undefined) return;
  throw new BusinessRuleError(
    `endpoint ${id} ("${name}") was not changed: GraphQL cannot change it without detaching it from its source. ` +
      `${SOURCES[source]}, or over REST v2 (SERVERLESS_GPU_API=v2). To delete it over GraphQL, set its workersMin and ` +
      "workersMax to 0 there first",
  );
}

/**
 * Returns the input of a change, which consists of the kept fields as they were read and of the
 * changed settings. A field that cannot be combined with the endpoint's other fields is
 * `undefined`.
 */
export function changeInput(
  fields: KeptFields,
  before: Endpoint,
  changes: Partial<EndpointSettings>,
  service: ServiceName | undefined,
): SaveInput {
  const kept = fields.input(before.kept);
  const after = { ...before, ...changes };
  const { unshown = [] } = before;
  const isSent = (field: keyof EndpointSettings) => {
    if (Object.hasOwn(changes, field) && changes[field] !== before[field]) return true;
    // The service keeps what is left out, and an empty value would clear it.
    const isEmpty = unshown.includes(field) || (FIELDS[field].isUnsetIfAbsent === true && isUnset(field, before));
    return !Object.hasOwn(KEPT_FIELDS, field) && !isEmpty;
  };
  const sent = ENDPOINT_FIELDS.filter(isSent).map((field) => [field, after[field]] as const);
  // If a save omits a single volume, the service keeps it.
  const setsSeveral = areSeveral(after.networkVolumeIds) && after.networkVolumeIds !== before.networkVolumeIds;
  return {
    id: before.id,
    ...kept,
    ...toSaveInput(Object.fromEntries(sent), service, after),
    ...(setsSeveral && { networkVolumeId: null }),
    ...standbyOf(kept, before, after, changes.workersStandby),
  };
}

function isUnset(field: keyof EndpointSettings, endpoint: Endpoint): boolean {
  return isDeepStrictEqual(endpoint[field], unsetValue(FIELDS[field]));
}

/**
 * Returns the number of standby workers. Unless the change sets it, the number stays the same,
 * except that it decreases together with `workersMin` if both were equal. It never exceeds
 * `workersMax`.
 */
function standbyOf(
  { workersStandby }: SaveInput,
  before: Endpoint,
  after: Endpoint,
  wanted: number | undefined,
): SaveInput {
  const current = wanted ?? workersStandby;
  if (typeof current !== "number") return {};
  const falls = wanted === undefined && current === before.workersMin && after.workersMin < current;
  return { workersStandby: Math.min(falls ? after.workersMin : current, after.workersMax) };
}
