import * as pulumi from "@pulumi/pulumi";
import type { InputProblem } from "../../../sdk/errors/errors";
import { SMOKE_TEST } from "../../engine/resourceTypes";
import { checkedOptions } from "../program/programChecks";
import { secretInputs } from "../program/secretInputs";

/** Time limits of the job. */
export interface SmokeTestPolicy {
  /**
   * How long the job may run on a worker, in milliseconds (integer, 5 seconds to 7 days).
   * @default the endpoint's timeout, else 600,000 (10 minutes)
   */
  executionTimeout?: pulumi.Input<number> | undefined;
  /** `true` if no workers should be started for the job. @default false */
  lowPriority?: pulumi.Input<boolean> | undefined;
  /**
   * How long the job may exist, including both waiting and running, in milliseconds (integer, 10
   * seconds to 7 days).
   * @default 86,400,000 (24 hours)
   */
  ttl?: pulumi.Input<number> | undefined;
}

/** Storage for the job's worker. The worker's own code must use it. */
export interface SmokeTestStorage {
  /** The bucket's access key id. @default none */
  accessId?: pulumi.Input<string> | undefined;
  /** The bucket's secret access key. State encrypts it. @default none */
  accessSecret?: pulumi.Input<string> | undefined;
  /** The bucket's name. @default none */
  bucketName?: pulumi.Input<string> | undefined;
  /** The bucket's URL. @default none */
  endpointUrl?: pulumi.Input<string> | undefined;
}

/** The arguments of a `SmokeTest`. */
export interface SmokeTestArgs {
  /** Id of the endpoint, such as `endpoint.endpointId`. */
  endpointId: pulumi.Input<string>;
  /** The job's input. A secret input is encrypted in state. Required unless `path` is set. */
  input?: pulumi.Input<Record<string, unknown>> | undefined;
  /**
   * The path to request from a load-balancing endpoint, such as `/v1/models`, instead of running a
   * job. The request is repeated while the endpoint has no worker.
   * @default none: run a job
   */
  path?: pulumi.Input<string> | undefined;
  /** The HTTP method, if `path` is set. @default "POST" with a body, "GET" without */
  method?: pulumi.Input<string> | undefined;
  /**
   * The request body, if `path` is set. A string is sent unchanged, and any other value as JSON. A
   * secret body is encrypted in state.
   * @default none
   */
  body?: pulumi.Input<unknown> | undefined;
  /** The expected HTTP status, if `path` is set (integer, 200 to 599). @default 200 */
  expectedStatus?: pulumi.Input<number> | undefined;
  /** Text that the response body must contain, if `path` is set. @default any body */
  expectedBody?: pulumi.Input<string> | undefined;
  /**
   * The job's expected output. Strings, numbers, booleans, `null` and lists must be equal. Objects
   * must contain the expected fields and may have others. If the output differs, the error shows
   * the first difference with both values, unless the expected value is secret.
   * @default any output
   */
  expectedOutput?: pulumi.Input<unknown> | undefined;
  /**
   * How long the job may take from submission to result, or the request until its response, in
   * seconds (integer, ≥ 1). After that, the job is cancelled.
   * @default 300 (5 minutes)
   */
  timeout?: pulumi.Input<number> | undefined;
  /** The job's time limits at RunPod. @default those of the endpoint */
  policy?: pulumi.Input<SmokeTestPolicy> | undefined;
  /** Storage for the worker's own code to use. @default none */
  s3Config?: pulumi.Input<SmokeTestStorage> | undefined;
  /**
   * Values, such as the template's id. When one of them changes, the job runs again, as it also
   * does when any other argument changes.
   */
  triggers?: pulumi.Input<pulumi.Input<unknown>[]> | undefined;
}

/**
 * Runs a job on an endpoint, or sends a request to a load-balancing endpoint. The test runs when
 * the resource is created, and again whenever its arguments change. `pulumi up` fails if the job
 * fails, takes too long, or returns unexpected output, or if a response has an unexpected status.
 * Resources that depend on the test are then left unchanged.
 *
 * If the response to a submit is lost, the test does not submit the job again. After a failure, the
 * next `up` runs the job again. State contains the job's id, status and times, but not its output.
 *
 * @example
 * new SmokeTest("llama-answers", {
 *   endpointId: llama.endpointId,
 *   input: { prompt: "2 + 2 =" },
 *   expectedOutput: { text: "4" },
 *   triggers: [llama.templateId],
 * });
 */
export class SmokeTest extends pulumi.CustomResource {
  /**
   * The type by which policy packs recognize the class.
   * @internal
   */
  static readonly __pulumiType = SMOKE_TEST.type;

  /** Id of the last job; `""` if `path` is set. */
  declare readonly jobId: pulumi.Output<string>;
  /** `COMPLETED`. If `path` is set, the response's HTTP status, such as `200`. */
  declare readonly status: pulumi.Output<string>;
  /**
   * How long the job waited for a worker, in milliseconds (integer); 0 if RunPod does not report
   * it.
   */
  declare readonly delayTime: pulumi.Output<number>;
  /**
   * How long the job ran, in milliseconds (integer); 0 if RunPod does not report it. If `path` is
   * set, the time until the response.
   */
  declare readonly executionTime: pulumi.Output<number>;

  constructor(name: string, args: SmokeTestArgs, options: pulumi.CustomResourceOptions = {}) {
    const { type, provider } = SMOKE_TEST;
    const outputs = Object.fromEntries(SMOKE_TEST.outputs.map((output) => [output, undefined]));
    const checked = checkedOptions({ kind: "SmokeTest", type, name, args, options, findProblems });
    const { expectedOutput, path, body, expectedBody, s3Config } = args;
    const secrets = {
      ...secretInputs({ expectedOutput, path, body, expectedBody }, options),
      ...(s3Config !== undefined && { s3Config: secretStorage(s3Config) }),
    };
    super(type, name, { ...args, ...outputs, ...secrets, __provider: provider }, checked);
  }
}

/**
 * Marks the storage's key as secret. If the whole storage is a single output, it becomes secret as
 * a whole.
 */
function secretStorage(storage: pulumi.Input<SmokeTestStorage>): pulumi.Input<SmokeTestStorage> {
  if (pulumi.Output.isInstance(storage) || storage instanceof Promise) return pulumi.secret(storage);
  if (typeof storage !== "object" || storage === null) return storage;
  const { accessSecret } = storage;
  return accessSecret === undefined ? storage : { ...storage, accessSecret: pulumi.secret(accessSecret) };
}

/** Load the handlers here, because they load the client. */
function findProblems(values: Record<string, unknown>): InputProblem[] {
  const {
    smokeTestProblems,
  }: typeof import("../../smokeTest/smokeTestHandlers") = require("../../smokeTest/smokeTestHandlers");
  return smokeTestProblems(values);
}
