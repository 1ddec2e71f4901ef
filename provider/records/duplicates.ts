import type { NamedRecord } from "../../sdk/records/listed";
import { log } from "../engine/log";

/**
 * Warns that other records have the same name as a new record. The
 * duplicates are not deleted, because another stack may be using them.
 */
export function warnOfDuplicates(noun: string, { id, name }: NamedRecord, others: readonly NamedRecord[]): void {
  const ids = others.map((other) => other.id).join(", ");
  log(
    name,
    `warning: two or more ${noun}s are named "${name}" and billed: ${id}, created by this run, and ${ids}. Another stack, or a ` +
      "create of this run that got no response, may have created them: pulumi stack --show-ids shows the ids of a stack. To " +
      "keep several, rename all but one. If no stack has one of them, and nobody uses it, delete it",
  );
}
