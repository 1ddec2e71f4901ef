import { types } from "node:util";
import * as z from "zod";
import { EXECUTION_TIMEOUT_MS, JOB_TTL_MS, RUN_BODY_MAX_BYTES, RUNSYNC_BODY_MAX_BYTES } from "../contract/limits";
import { type InputProblem, InvalidInputError } from "../errors/errors";
import { hideJobSecret } from "../errors/secretText";

/** A job's time limits (contract, Policy object). */
export interface JobPolicy {
  /**
   * How long the job may run on a worker, in milliseconds (integer, 5 seconds to 7 days).
   * @default the endpoint's timeout, else 600,000 (10 minutes)
   */
  readonly executionTimeout?: number | undefined;
  /** `true` if no workers should be started for the job. @default false */
  readonly lowPriority?: boolean | undefined;
  /**
   * How long the job may exist, including both waiting and running, in milliseconds (integer, 10
   * seconds to 7 days).
   * @default 86,400,000 (24 hours)
   */
  readonly ttl?: number | undefined;
}

/** Storage for the worker. Only the worker's own code uses it (contract, s3Config object). */
export interface S3Config {
  /** The bucket's access key id. */
  readonly accessId?: string | undefined;
  /** The bucket's secret access key. It is sent to RunPod and never shown. */
  readonly accessSecret?: string | undefined;
  /** The bucket's name. */
  readonly bucketName?: string | undefined;
  /** The bucket's URL. */
  readonly endpointUrl?: string | undefined;
}

/**
 * The request body of `run` and `runSync` (contract, Job request body). Additional fields are sent
 * unchanged.
 */
export interface JobRequest {
  /** The input of the worker's handler, as JSON. */
  readonly input: object;
  /** An http(s) URL that RunPod calls when the job ends. */
  readonly webhook?: string | undefined;
  /** The job's time limits. */
  readonly policy?: JobPolicy | undefined;
  /** Storage that the worker's own code can use. */
  readonly s3Config?: S3Config | undefined;
}

/** A request that was checked and is ready to send. */
export interface CheckedJobRequest {
  readonly body: string;
  /** The job's `ttl`, either as given or the default, in milliseconds. */
  readonly ttlMs: number;
  /** Warnings about input that is valid but probably a mistake. */
  readonly warnings: readonly string[];
}

interface Range {
  readonly min: number;
  readonly max: number;
}

function milliseconds({ min, max }: Range) {
  const problem = `must be a whole number of milliseconds from ${min} to ${max}`;
  return z.int(problem).min(min, problem).max(max, problem);
}

const string = z.string("must be a string").nullish();

function isEmptyAsJson(input: unknown): boolean {
  return types.isPromise(input) || types.isMap(input) || types.isSet(input);
}

const requestSchema = z.looseObject(
  {
    input: z.looseObject({}, "is required and must be an object"),
    webhook: z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).nullish(),
    policy: z
      .looseObject(
        {
          executionTimeout: milliseconds(EXECUTION_TIMEOUT_MS).nullish(),
          lowPriority: z.boolean("must be true or false").nullish(),
          ttl: milliseconds(JOB_TTL_MS).nullish(),
        },
        "must be an object",
      )
      .nullish(),
    s3Config: z
      .looseObject(
        { accessId: string, accessSecret: string, bucketName: string, endpointUrl: string },
        "must be an object",
      )
      .nullish(),
  },
  "must be an object with the field input",
);

const LARGEST_BODY = { run: RUN_BODY_MAX_BYTES, runsync: RUNSYNC_BODY_MAX_BYTES } as const;

/**
 * Checks a request, including its size in bytes, before it is sent.
 * @throws InvalidInputError that lists all problems
 */
export function checkJobRequest(operation: "run" | "runsync", request: JobRequest): CheckedJobRequest {
  const checked = requestSchema.safeParse(request);
  if (!checked.success) throw invalid(checked.error.issues.map(toProblem));
  if (isEmptyAsJson(request.input)) {
    throw invalid([{ property: "input", message: "must not be a promise, a Map or a Set, which are {} as JSON" }]);
  }
  const { s3Config } = checked.data;
  if (s3Config?.accessSecret) hideJobSecret(s3Config.accessSecret);
  const body = toJson("input", request);
  const bytes = Buffer.byteLength(body);
  const maxBytes = LARGEST_BODY[operation];
  if (bytes > maxBytes) {
    const way = operation === "run" ? "; runSync without onAbort accepts twice as much" : "";
    const message = `the request has ${bytes} bytes as JSON, and /${operation} accepts at most ${maxBytes}`;
    throw invalid([{ property: "input", message: `${message}: pass large data by URL${way}` }]);
  }
  const { ttl, executionTimeout } = checked.data.policy ?? {};
  const ttlMs = ttl ?? JOB_TTL_MS.default;
  return { body, ttlMs, warnings: [...emptyInputWarnings(request.input), ...policyWarnings(ttlMs, executionTimeout)] };
}

/** Returns a warning about an input that workers are not given (reported by users). */
export function emptyInputWarnings(input: object): string[] {
  if (Object.keys(input).length > 0) return [];
  return [
    "input is empty: RunPod is reported to leave out an empty input, so that no handler gets the job, and it fails with " +
      '"job timed out after 1 retries". Give it a property, such as {"input": {"ping": true}}',
  ];
}

/**
 * Returns a warning if the ttl is shorter than the execution timeout, because the ttl ends the job
 * even while the job is running (contract, Limits).
 */
function policyWarnings(ttlMs: number, executionTimeout: number | null | undefined): string[] {
  if (executionTimeout == null || ttlMs >= executionTimeout) return [];
  return [
    `policy.ttl (${ttlMs} ms) is shorter than policy.executionTimeout (${executionTimeout} ms): when its ttl expires, ` +
      "the job is deleted with its result, even while it runs",
  ];
}

/**
 * Returns a value as JSON.
 * @param property the name of the value in the error
 * @throws InvalidInputError if the value cannot be written as JSON
 */
export function toJson(property: string, value: unknown): string {
  let json: string | undefined;
  let why = "it has no JSON form";
  try {
    json = JSON.stringify(value);
  } catch (error) {
    why = error instanceof Error ? error.message : String(error);
  }
  if (json !== undefined) return json;
  throw invalid([{ property, message: `cannot be written as JSON: ${why}` }]);
}

function toProblem(issue: z.core.$ZodIssue): InputProblem {
  return { property: issue.path.join(".") || "the request", message: problemMessage(issue) };
}

function problemMessage(issue: z.core.$ZodIssue | undefined): string {
  return issue?.message ?? "is not valid";
}

function invalid(problems: readonly InputProblem[]): InvalidInputError {
  return new InvalidInputError("the request", problems);
}
