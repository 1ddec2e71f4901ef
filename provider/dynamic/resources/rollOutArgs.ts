import type * as pulumi from "@pulumi/pulumi";

/** A test of a new release: one job, or one request to a load-balancing endpoint. */
export interface RollOutTest {
  /** Input of the job. State encrypts a secret input. Required unless `path` is set. */
  input?: pulumi.Input<Record<string, unknown>> | undefined;
  /**
   * The path of a load-balancing endpoint to request, such as `/v1/models`, instead of a job.
   * @default none: a job
   */
  path?: pulumi.Input<string> | undefined;
  /** The HTTP method, with `path`. @default "POST" with a body, "GET" without */
  method?: pulumi.Input<string> | undefined;
  /** The body of the request, with `path`. @default none */
  body?: pulumi.Input<unknown> | undefined;
  /** The HTTP status that the response must have, with `path`: whole, 200 to 599. @default 200 */
  expectedStatus?: pulumi.Input<number> | undefined;
  /** Text that the body of the response must contain, with `path`. @default any body */
  expectedBody?: pulumi.Input<string> | undefined;
  /**
   * The expected output of the job, compared as in a `SmokeTest`: the output may have additional
   * fields.
   * @default any output
   */
  expectedOutput?: pulumi.Input<unknown> | undefined;
  /**
   * How long the test may take, with the start of a worker, in seconds (integer, ≥ 1). After that
   * the release has failed.
   * @default 300 (5 minutes)
   */
  timeout?: pulumi.Input<number> | undefined;
}

/** How a new release is watched while it serves. */
export interface RollOutWatch {
  /** How long the jobs are counted, in seconds (integer, ≥ 1). */
  seconds: pulumi.Input<number>;
  /**
   * The largest share of jobs that may fail, from 0 to below 1. As soon as `minJobs` have ended and
   * more have failed, the release has failed.
   * @default 0.05 (5 %)
   */
  maxFailed?: pulumi.Input<number> | undefined;
  /**
   * The number of jobs that must end for a judgment (integer, ≥ 1). With fewer, the release
   * passes, and the run says so.
   * @default 20
   */
  minJobs?: pulumi.Input<number> | undefined;
}

/** What a rollout does with a release that fails. */
export const RollOutFailureAction = {
  /** Saves the previous settings again. */ restore: "restore",
  /** Lets the failed release serve. */ keep: "keep",
} as const;
/**
 * What a rollout does with a release that fails.
 * @useDeclaredType
 */
export type RollOutFailureAction = keyof typeof RollOutFailureAction;

/**
 * How a new release of the endpoint is judged: the `up` waits until its workers run it, tests it,
 * watches its jobs, and on a failure saves the former settings again.
 */
export interface RollOutArgs {
  /** The test that the release must pass. @default none */
  test?: pulumi.Input<RollOutTest> | undefined;
  /** How the jobs of the release are counted after the test. @default they are not */
  watch?: pulumi.Input<RollOutWatch> | undefined;
  /**
   * What happens with a release that fails: `restore` saves the former settings again, `keep` lets
   * it serve. The `up` fails in both cases.
   * @default "restore"
   */
  onFailure?: pulumi.Input<RollOutFailureAction> | undefined;
  /**
   * A number (integer, ≥ 1). A release that was refused is not tried again until the program's
   * inputs change. Raise this number to try the same release again.
   * @default 1
   */
  attempt?: pulumi.Input<number> | undefined;
  /**
   * How long the rollout may take until no worker runs the former release, and how long a restore
   * waits for the same, in seconds (integer, ≥ 1).
   * @default 600 (10 minutes)
   */
  timeout?: pulumi.Input<number> | undefined;
}
