import { InvalidInputError } from "../../sdk/errors/errors";
import { fixedIn } from "../../sdk/records/fields";
import type { NamedRecord } from "../../sdk/records/listed";
import { connect, currentCapabilities, currentPlace } from "../connection/connection";
import { cancelled } from "../engine/cancellation";
import { log } from "../engine/log";
import type { Properties } from "../engine/properties";
import { deletedElsewhere } from "./absent";
import { shownFields } from "./outputs";
import type { RecordKind, Situation } from "./recordKind";
import { isAutomatic } from "./write";

/*
 * A replacement deletes a record. Only a changed program causes one. The record is read first,
 * because it may already match the program.
 */

/**
 * Returns the changed fields that require a new record.
 * @throws InvalidInputError if the replacement is refused
 * @throws Error if the record cannot be read
 */
export async function replacingFields<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  situation: Situation,
  changed: readonly string[],
): Promise<string[]> {
  const { outputs, inputs } = situation;
  const fixed = fixedIn(kind.table, outputs, inputs).filter((field) => changed.includes(field));
  const replaced = fixed.length === 0 ? [] : await stillFixed(kind, situation, fixed);
  const replaces = [...replaced, ...unchangeableIn(kind, changed, outputs, inputs)];
  const [property] = replaces;
  if (property === undefined) return [];
  if (replaced.length > 0 && kind.neverReplaced) refuse(kind.noun, outputs, property, kind.neverReplaced(outputs));
  if (outputs.adoptId !== undefined && inputs.adoptId === undefined)
    refuse(kind.noun, outputs, property, releaseFirst(kind.noun));
  return replaces;
}

function refuse(noun: string, outputs: Properties, property: string, message: string): never {
  throw new InvalidInputError(`the change of ${noun} "${outputs.name}"`, [{ property, message }]);
}

function releaseFirst(noun: string): string {
  return (
    `requires a new ${noun}, and this run also removes adoptId. Restore the previous value, run pulumi up, which only ` +
    `removes adoptId and makes the ${noun} this stack's own, then change it`
  );
}

/** Returns the fixed fields whose values in the record differ from those in the program. */
async function stillFixed<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  { id, outputs, inputs }: Situation,
  fixed: readonly string[],
): Promise<readonly string[]> {
  const { noun } = kind;
  if (!currentPlace()) {
    log(
      String(outputs.name ?? id),
      `warning: this preview has no key, so it cannot read ${noun} ${id} and does not know whether ${fixed.join(", ")} ` +
        `already ${fixed.length === 1 ? "has" : "have"} the program's value. If not, up replaces the ${noun}`,
    );
    return fixed;
  }
  const found = await kind.records(connect().client).find(id, { signal: cancelled });
  if (!found) throw deletedElsewhere(noun, id);
  const shown = shownFields(kind, found, {});
  const differing = fixedIn(kind.table, shown, inputs);
  const open = fixed.filter((field) => shown[field] === undefined && found.unshown?.includes(field));
  if (open.length > 0 && !kind.neverReplaced)
    refuse(
      noun,
      outputs,
      open[0] ?? "",
      `requires a new ${noun}, but the service does not show its current value. Try again later`,
    );
  return fixed.filter((field) => shown[field] === undefined || differing.includes(field));
}

/**
 * Returns the changed fields that the management API cannot change.
 * @throws InvalidInputError if the replacement would need a different name
 */
function unchangeableIn<T extends NamedRecord, Fields extends object>(
  { hasUniqueNames, noun, unchangeable }: RecordKind<T, Fields>,
  changed: readonly string[],
  outputs: Properties,
  inputs: Properties,
): string[] {
  const capabilities = currentCapabilities();
  const { fields = [], sameName = "" } = (capabilities && unchangeable?.(capabilities)) ?? {};
  const found = changed.filter((field) => fields.includes(field));
  const keepsName = hasUniqueNames && !isAutomatic(inputs) && !changed.includes("name");
  const [property] = found;
  if (property === undefined || !keepsName) return found;
  return refuse(noun, outputs, property, sameName);
}
