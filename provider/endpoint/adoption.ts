import type { Endpoint } from "../../sdk/endpoints/record";
import { NameTakenError } from "../../sdk/errors";
import { secretFields } from "../hideSecretInputs";
import type { Properties } from "../properties";
import { changedFields } from "./diff";

/**
 * Refuses to create an endpoint with a name that exists. A name does not prove ownership: a copy of the program on
 * another machine produces the same name, and so does a resource after a change of its logical name.
 * @throws NameTakenError always
 */
export function refuseTakenName(existing: readonly Endpoint[], name: unknown): never {
  const ids = existing.map(({ id }) => id);
  throw new NameTakenError(
    `an endpoint named "${name}" exists already: ${ids.join(", ")}. No endpoint was created, because two ` +
      "endpoints with one name are easily confused. If you have renamed this resource in the program, keep its endpoint with the resource " +
      'option aliases: [{ name: "<former logical name>" }]. If the endpoint belongs to another resource, stack or ' +
      "person, give this resource another name. Only if nothing else manages it (for example, an interrupted run left " +
      `it), set adoptId: "${ids[0]}"`,
    ids,
  );
}

/** Describes the changes of an update: `gpuIds "A" → "B", workersMax 3 → 2`, without the values of secret inputs. */
export function describeChanges(before: Properties, after: Properties, inputs: Properties): string {
  const secret = secretFields(inputs);
  const changes = changedFields(before, after).map((field) =>
    secret.includes(field)
      ? `${field} [secret]`
      : `${field} ${JSON.stringify(before[field])} → ${JSON.stringify(after[field])}`,
  );
  return changes.length === 0 ? "no changes were needed" : `changed ${changes.join(", ")}`;
}
