import type { NamedRecord } from "../../sdk/records/listed";
import { log } from "../log";

/**
 * Warns that other records received the same name as a new record at the same moment. None of them
 * is deleted, because another stack may be using them.
 */
export function warnOfDuplicates(noun: string, { id, name }: NamedRecord, others: readonly NamedRecord[]): void {
  const ids = others.map((other) => other.id).join(", ");
  log(
    name,
    `warning: two or more ${noun}s are named "${name}" and billed: ${id}, which this run has created, and ${ids}, which ` +
      "someone else created at the same moment. Find the stack that has the other one (pulumi stack --show-ids). If you need " +
      "both, give one of the two resources another name. Otherwise remove one of the two from its program and run pulumi up there",
  );
}
