import type * as pulumi from "@pulumi/pulumi";

/** A test of a new release: a job, or a request to a load-balancing endpoint. */
export interface RollOutTest {
  /** The job's input. A secret input is encrypted in state. Required unless `path` is set. */
  input?: pulumi.Input<Record<string, unknown>> | undefined;
  /**
   * The path to request from a load-balancing endpoint, such as `/v1/models`, instead of running a
   * job.
   * @default none: run a job
   */
  path?: pulumi.Input<string> | undefined;
  /** The HTTP method, if `path` is set. @default "POST" with a body, "GET" without */
  method?: pulumi.Input<string> | undefined;
  /** The request body, if `path` is set. @default none */
  body?: pulumi.Input<unknown> | undefined;
  /** The expected HTTP status, if `path` is set (integer, 200 to 599). @default 200 */
  expectedStatus?: pulumi.Input<number> | undefined;
  /** Text that the response body must contain, if `path` is set. @default any body */
  expectedBody?: pulumi.Input<string> | undefined;
  /**
   * The job's expected output, compared as in a `SmokeTest`. The output may have additional fields.
   * @default any output
   */
  expectedOutput?: pulumi.Input<unknown> | undefined;
  /**
   * How long the test may take, including the start of a worker, in seconds (integer, ≥ 1). After
   * that, the release has failed.
   * @default 300 (5 minutes)
   */
  timeout?: pulumi.Input<number> | undefined;
}

/** How to watch a new release while it serves jobs. */
export interface RollOutWatch {
  /** How long to count jobs, in seconds (integer, ≥ 1). */
  seconds: pulumi.Input<number>;
  /**
   * The largest acceptable share of failed jobs: at least 0, less than 1. The release fails once
   * `minJobs` jobs have ended and a larger share has failed.
   * @default 0.05 (5 %)
   */
  maxFailed?: pulumi.Input<number> | undefined;
  /**
   * The number of ended jobs needed for a decision (integer, ≥ 1). With fewer jobs, the release
   * passes, and the run says so.
   * @default 20
   */
  minJobs?: pulumi.Input<number> | undefined;
}

/** What a rollout does with a failed release. */
export const RollOutFailureAction = {
  /** Restores the previous release. */ restore: "restore",
  /** Keeps the failed release in service. */ keep: "keep",
} as const;
/**
 * What a rollout does with a failed release.
 * @useDeclaredType
 */
export type RollOutFailureAction = keyof typeof RollOutFailureAction;

/**
 * How to judge a new release of the endpoint. `pulumi up` waits until the workers run the release,
 * tests it and watches its jobs. If the release fails, `up` restores the previous one and fails.
 * The next `up` tries the release again.
 */
export interface RollOutArgs {
  /** A test that the release must pass. @default none */
  test?: pulumi.Input<RollOutTest> | undefined;
  /** How to count the release's jobs after the test. @default jobs are not counted */
  watch?: pulumi.Input<RollOutWatch> | undefined;
  /**
   * What to do with a failed release: `restore` restores the previous release, and `keep` keeps it
   * in service. `pulumi up` fails in both cases.
   * @default "restore"
   */
  onFailure?: pulumi.Input<RollOutFailureAction> | undefined;
  /**
   * How long the rollout may take until no worker runs the previous release, in seconds (integer, ≥
   * 1).
   * @default 600 (10 minutes)
   */
  timeout?: pulumi.Input<number> | undefined;
}
