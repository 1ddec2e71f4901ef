import type { Endpoint } from "../../sdk/endpoints/record";
import { NameTakenError } from "../../sdk/errors";
import { secretFields } from "../hideSecretInputs";
import type { Properties } from "../properties";
import { changedFields } from "./diff";

/**
 * Refuses to create an endpoint of a name that exists. A name is no evidence of whose an endpoint is: a copy of the
 * program on another machine gives the same one, and so does a resource that has got another logical name.
 */
export function refuseTakenName(existing: readonly Endpoint[], name: unknown): never {
  const ids = existing.map(({ id }) => id);
  throw new NameTakenError(
    `an endpoint named "${name}" exists already: ${ids.join(", ")}. None was created, because the two could be ` +
      "mistaken for each other. If you have renamed this resource in the program, keep its endpoint with the resource " +
      'option aliases: [{ name: "<former logical name>" }]. If the endpoint belongs to another resource, stack or ' +
      "person, give this resource another name. Only if nothing else manages it (an interrupted run left it, say), " +
      `set adoptId: "${ids[0]}"`,
    ids,
  );
}

/** What an update changed, for people: `gpuIds "A" → "B", workersMax 3 → 2`, without the values of secret inputs. */
export function describeChanges(before: Properties, after: Properties, inputs: Properties): string {
  const secret = secretFields(inputs);
  const changes = changedFields(before, after).map((field) =>
    secret.includes(field)
      ? `${field} [secret]`
      : `${field} ${JSON.stringify(before[field])} → ${JSON.stringify(after[field])}`,
  );
  return changes.length === 0 ? "nothing had to be changed" : `changed ${changes.join(", ")}`;
}
