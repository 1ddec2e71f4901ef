import { ENDPOINT_DEFAULTS } from "../sdk/endpointInput";
import type { Endpoint } from "../sdk/endpointRecord";
import { NameTakenError } from "../sdk/errors";
import { changedFields } from "./diff";
import type { Properties } from "./inputs";

/**
 * What to do when a new resource's name exists already. An automatic name that only this stack can have given, with all
 * fields as the program has them, is this stack's own endpoint, left by a create that was interrupted: it is returned.
 * Anything else may be somebody else's: `NameTakenError`.
 */
export function takeOverOwn(existing: readonly Endpoint[], inputs: Properties): Endpoint {
  const [only] = existing;
  const asCreated = { ...ENDPOINT_DEFAULTS, ...inputs };
  if (
    only &&
    existing.length === 1 &&
    inputs.__automaticName === "unique" &&
    changedFields({ ...only }, asCreated).length === 0
  ) {
    return only;
  }
  const ids = existing.map(({ id }) => id);
  throw new NameTakenError(
    `an endpoint named "${inputs.name}" exists already: ${ids.join(", ")}. None was created, because the two could be ` +
      `taken for each other. If it is this resource's (an earlier run was interrupted, say), set adoptId: "${ids[0]}" ` +
      "to take it over; otherwise choose another name",
    ids,
  );
}

/** What an update will change, for people: `gpuIds "A" → "B", workersMax 3 → 2`. */
export function describeChanges(before: Properties, after: Properties): string {
  const changes = changedFields(before, after).map(
    (field) => `${field} ${JSON.stringify(before[field])} → ${JSON.stringify(after[field])}`,
  );
  return changes.length === 0 ? "nothing had to be changed" : `changed ${changes.join(", ")}`;
}
