import { UnexpectedResponseError } from "../errors";
import { redactBeginning } from "../secret";
import { jsonText } from "../transport/http";
import { JobFailedError } from "./jobErrors";
import { type CompletedJob, isCompleted, type Job } from "./jobRecord";

/** Says what a job's output looks like: a zod schema, or anything else that has `parse`. */
export interface OutputSchema<Output> {
  /** Returns the value in its type, or throws. */
  parse(value: unknown): Output;
}

/**
 * The job that ended, its output in the schema's type.
 * @throws JobFailedError when it did not complete
 * @throws UnexpectedResponseError when its output is of another shape
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
    const message = `${what} is not of the shape that its schema asks for`;
    throw new UnexpectedResponseError(`${message}. Compare it with what the worker returns; cause says where`, {
      cause,
    });
  }
}

/** A message shows no more of what a job says; `jobError` holds all of it. */
const LONGEST_ERROR = 2_000;

const HAPPENED: Readonly<Record<string, string>> = {
  FAILED: "failed",
  CANCELLED: "was cancelled",
  TIMED_OUT: "timed out",
};

const NEXT_STEP: Readonly<Record<string, string>> = {
  FAILED: ". Look at the worker's log; retry() runs it again",
  TIMED_OUT: ". Look whether the endpoint has workers; retry() runs it again",
};

export function jobFailed({ id, status, error: said }: Job): JobFailedError {
  const error = said === undefined || said === null ? undefined : typeof said === "string" ? said : jsonText(said);
  const happened = HAPPENED[status] ?? `is ${status}`;
  const message = `job ${id} ${happened}${error ? `: ${redactBeginning(error, LONGEST_ERROR)}` : ""}${NEXT_STEP[status] ?? ""}`;
  return new JobFailedError(message, { id, status, ...(error !== undefined && { error }) });
}
