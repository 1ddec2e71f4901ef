import type { NamedRecord } from "../../sdk/records/listed";
import { log } from "../log";

/**
 * Warns that other records were given the same name as a new record at the same moment. The
 * duplicates are not deleted, because another stack may be using them.
 */
export function warnOfDuplicates(noun: string, { id, name }: NamedRecord, others: readonly NamedRecord[]): void {
  const ids = others.map((other) => other.id).join(", ");
  log(
    name,
    `warning: two or more ${noun}s are named "${name}" and billed: ${id}, created by this run, and ${ids}, created elsewhere ` +
      "at the same moment. Find that stack (pulumi stack --show-ids). To keep both, rename one. Otherwise remove one " +
      "from its program and run pulumi up there",
  );
}
