import { InvalidInputError } from "../errors/errors";
import { JobExpiredError, SubmitUncertainError } from "../jobs/jobErrors";
import type { JournalBatch, JournalEntry } from "../journal/journal";
import type { Outcome } from "./batchRun";

export function unfinished(error: unknown): Outcome<never> {
  return { kind: "unfinished", error: error as Error };
}

export function failure(error: unknown): Outcome<never> {
  return { kind: "failed", error: error as Error };
}

/** Returns why it is unknown whether a submit started a job. */
export function reasonOf({ message, cause }: Error): string {
  return cause instanceof Error ? cause.message : message;
}

export function changed(key: string): Outcome<never> {
  const message =
    `${JSON.stringify(key)} is the key of another input of this batch, so this input was not submitted. If the input has changed, ` +
    "give it another key or run it in a batch with another name. If two inputs have the same key, use a key that is unique";
  return failure(new InvalidInputError("the batch", [{ property: "key", message }]));
}

export function uncertain({ key, reason }: JournalEntry, { batch, endpointId }: JournalBatch): SubmitUncertainError {
  const why = reason ?? "the process that claimed it ended before it recorded the job's id";
  return new SubmitUncertainError(
    `input ${JSON.stringify(key)} in batch ${JSON.stringify(batch)} may have been submitted: ${why}. It is not submitted again. ` +
      `Check the requests of endpoint ${endpointId}. If you find its job, record the job's id. If the job may run twice, run the ` +
      'batch with uncertain: "submit"',
    {},
  );
}

export function expired({ jobId = "", submittedAt = 0 }: JournalEntry, { endpointId }: JournalBatch): JobExpiredError {
  return new JobExpiredError(
    `job ${jobId} at endpoint ${endpointId} was submitted, but the service no longer shows it. It may have been completed. To run ` +
      'its input again, run the batch with expired: "submit"',
    { jobId, reason: "retention", at: new Date(submittedAt) },
  );
}

/** The error for a delivered result that was lost afterwards. */
export function gone(
  { key, jobId = "", submittedAt = 0 }: JournalEntry,
  { endpointId }: JournalBatch,
): JobExpiredError {
  return new JobExpiredError(
    `the result of input ${JSON.stringify(key)} was delivered earlier and is gone: the journal did not store it, and endpoint ` +
      `${endpointId} no longer keeps job ${jobId}. To run the input again, use a batch with another name`,
    { jobId, reason: "retention", at: new Date(submittedAt) },
  );
}
