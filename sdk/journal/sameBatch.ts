import type { JournalBatch } from "./journal";
import { JournalRefusedError } from "./journalErrors";

const FIELDS = { batch: "batch", endpointId: "endpoint", keyVersion: "keyVersion" } as const;

/**
 * Checks that a journal belongs to this batch.
 * @param what the name of the journal in errors
 * @throws JournalRefusedError
 */
export function requireSameBatch(what: string, found: JournalBatch, wanted: JournalBatch): void {
  const other = (["batch", "endpointId", "keyVersion"] as const).filter((field) => found[field] !== wanted[field]);
  if (other.length === 0) return;
  const said = (batch: JournalBatch) =>
    other.map((field) => `${FIELDS[field]} ${JSON.stringify(batch[field])}`).join(", ");
  throw new JournalRefusedError(
    `${what} was created with ${said(found)}, but this batch has ${said(wanted)}. Its jobs belong to another endpoint, or ` +
      "cannot be found by these keys. Use another journal or another batch name, or run the batch with the values that the " +
      "journal was created with",
  );
}
