import { UnexpectedResponseError } from "../errors";
import { redactBeginning } from "../secret";
import { jsonText } from "../transport/responseErrors";
import { JobFailedError } from "./jobErrors";
import { type CompletedJob, isCompleted, type Job } from "./jobRecord";

/** The schema of a job's output: a zod schema, or any object with `parse`. */
export interface OutputSchema<Output> {
  /** Returns the value in the schema's type. Throws if it has a different shape. */
  parse(value: unknown): Output;
}

/**
 * Returns a job that has ended, with its output in the schema's type.
 * @throws JobFailedError if it did not complete
 * @throws UnexpectedResponseError if its output has a different shape
 */
export function completedJob<Output>(job: Job, schema: OutputSchema<Output> | undefined): CompletedJob<Output> {
  if (!isCompleted(job)) throw jobFailed(job);
  if (!schema) return job as CompletedJob<Output>;
  return { ...job, output: parseOutput(schema, job.output, `the output of job ${job.id}`) };
}

export function parseOutput<Output>(schema: OutputSchema<Output>, output: unknown, what: string): Output {
  try {
    return schema.parse(output);
  } catch (cause) {
    const message = `${what} does not match its schema`;
    throw new UnexpectedResponseError(
      `${message}. Compare the schema with the worker's output; cause shows where they differ`,
      {
        cause,
      },
    );
  }
}

/**
 * The largest part of a job's error that a message shows, in characters. `jobError` holds all of
 * it.
 */
const LONGEST_ERROR = 2_000;

/** How a job can end without a result, in words, and what to do next. */
const ENDS: Readonly<Record<string, { readonly happened: string; readonly nextStep?: string }>> = {
  FAILED: { happened: "failed", nextStep: ". Check the worker's log; retry() runs it again" },
  CANCELLED: { happened: "was cancelled" },
  TIMED_OUT: { happened: "timed out", nextStep: ". Check if the endpoint has workers; retry() runs it again" },
};

export function jobFailed({ id, status, error: said }: Job): JobFailedError {
  const error = said === undefined || said === null ? undefined : typeof said === "string" ? said : jsonText(said);
  const { happened, nextStep = "" } = ENDS[status] ?? { happened: `is ${status}` };
  const message = `job ${id} ${happened}${error ? `: ${redactBeginning(error, LONGEST_ERROR)}` : ""}${nextStep}`;
  return new JobFailedError(message, { id, status, ...(error !== undefined && { error }) });
}
