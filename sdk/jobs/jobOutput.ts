import type { EndedJobState } from "../contract/enums";
import { redactBeginning } from "../errors/secretText";
import { jsonText } from "../transport/responseErrors";
import { JobFailedError, type OutputIssue, OutputMismatchError } from "./jobErrors";
import { type CompletedJob, isCompleted, type Job } from "./jobRecord";

/**
 * The schema of a job's output: a zod, valibot or arktype schema, any other schema that implements
 * Standard Schema, or any object with a `parse` method. The refinements of a Standard Schema may be
 * asynchronous.
 */
export type OutputSchema<Output> = ParsingSchema<Output> | StandardSchema<Output>;

/** A schema with a `parse` method. */
export interface ParsingSchema<Output> {
  /** Returns the value in the schema's type. Throws if the value has a different shape. */
  parse(value: unknown): Output;
}

/**
 * A schema that implements Standard Schema, version 1. If a schema also has a `parse` method, the
 * Standard Schema is used.
 */
export interface StandardSchema<Output> {
  /** The interface. */
  readonly "~standard": {
    /** Returns the value in the schema's type, or a description of what is wrong with it. */
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
  };
}

/** The result of a Standard Schema: either the value or a description of what is wrong with it. */
export type StandardResult<Output> =
  | {
      /** The value in the schema's type. */
      readonly value: Output;
      /** Always `undefined`. */
      readonly issues?: undefined;
    }
  | {
      /** The parts of the value that do not match the schema. */
      readonly issues: readonly StandardIssue[];
    };

/** A part of a value that does not match a Standard Schema. */
export interface StandardIssue {
  /** A description of what is wrong. */
  readonly message: string;
  /** The keys that lead to this part. */
  readonly path?: readonly (PropertyKey | StandardPathPart)[] | undefined;
}

/** A key of a path, in the form of an object. */
export interface StandardPathPart {
  /** The key. */
  readonly key: PropertyKey;
}

/** What is being parsed, for error messages. */
interface Parsed {
  /** A name for the parsed value, such as `the output of job a1`. */
  readonly what: string;
  readonly jobId?: string | undefined;
}

/**
 * Returns an ended job with its output in the schema's type.
 * @throws JobFailedError if the job did not complete
 * @throws OutputMismatchError if the output has a different shape
 */
export async function completedJob<Output>(
  job: Job,
  schema: OutputSchema<Output> | undefined,
): Promise<CompletedJob<Output>> {
  if (!isCompleted(job)) throw jobFailed(job);
  if (!schema) return job as CompletedJob<Output>;
  const parsed = { what: `the output of job ${job.id}`, jobId: job.id };
  return { ...job, output: await parseOutput(schema, job.output, parsed) };
}

/** @throws OutputMismatchError */
export async function parseOutput<Output>(
  schema: OutputSchema<Output>,
  output: unknown,
  parsed: Parsed,
): Promise<Output> {
  if (!("~standard" in schema)) {
    try {
      return schema.parse(output);
    } catch (cause) {
      throw mismatch(output, parsed, issuesOf(cause), cause);
    }
  }
  const result = await validated(schema, output, parsed);
  if (!result.issues) return result.value;
  throw mismatch(output, parsed, result.issues);
}

async function validated<Output>(
  schema: StandardSchema<Output>,
  output: unknown,
  parsed: Parsed,
): Promise<StandardResult<Output>> {
  try {
    return await schema["~standard"].validate(output);
  } catch (cause) {
    // Don't lose the output just because a refinement throws.
    throw mismatch(output, parsed, issuesOf(cause), cause);
  }
}

function mismatch(
  output: unknown,
  { what, jobId }: Parsed,
  given: readonly StandardIssue[],
  cause?: unknown,
): OutputMismatchError {
  const issues = given.map(({ message, path = [] }): OutputIssue => {
    const keys = path.map((part) => (typeof part === "object" ? part.key : part));
    return { message: String(message), path: keys.map((key) => (typeof key === "symbol" ? String(key) : key)) };
  });
  const message =
    `${what} does not match its schema. It is not lost: error.output contains it, and error.issues lists the mismatches. ` +
    "Correct the schema or the worker";
  return new OutputMismatchError(message, { jobId, output, issues }, { cause });
}

/**
 * Returns the issues in an error that a schema threw. These are zod's list of issues or, for other
 * schemas, the error's message.
 */
function issuesOf(cause: unknown): readonly StandardIssue[] {
  const issues = typeof cause === "object" && cause !== null && "issues" in cause ? cause.issues : undefined;
  if (Array.isArray(issues) && issues.length > 0 && issues.every(isIssue)) return issues;
  return [{ message: hasMessage(cause) ? cause.message : String(cause) }];
}

function isIssue(value: unknown): value is StandardIssue {
  return hasMessage(value) && (!("path" in value) || Array.isArray(value.path));
}

function hasMessage(value: unknown): value is { readonly message: string } {
  return typeof value === "object" && value !== null && "message" in value && typeof value.message === "string";
}

/**
 * How much of a job's error a message shows, in characters. `jobError` contains the whole error.
 */
const LONGEST_ERROR = 2_000;

interface End {
  readonly happened: string;
  readonly nextStep?: string;
}

/** The ways in which a job can end without a result, in words, and what to do next. */
const ENDS: Readonly<Record<Exclude<EndedJobState, "COMPLETED">, End>> = {
  FAILED: { happened: "failed", nextStep: ". Check the worker's log; retry() runs it again" },
  CANCELLED: { happened: "was cancelled" },
  TIMED_OUT: { happened: "timed out", nextStep: ". Check whether the endpoint has workers; retry() runs it again" },
};

export function jobFailed({ id, status, output, error: given }: Job): JobFailedError {
  // A handler may put its error into the output.
  const said = given ?? (status === "FAILED" ? output : undefined);
  const error = said === undefined || said === null ? undefined : typeof said === "string" ? said : jsonText(said);
  const { happened, nextStep = "" } = (ENDS as Readonly<Record<string, End>>)[status] ?? { happened: `is ${status}` };
  const message = `job ${id} ${happened}${error ? `: ${redactBeginning(error, LONGEST_ERROR)}` : ""}${nextStep}`;
  return new JobFailedError(message, { id, status, ...(error !== undefined && { error }) });
}
