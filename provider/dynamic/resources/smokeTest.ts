import * as pulumi from "@pulumi/pulumi";
import type { InputProblem } from "../../../sdk/errors";
import { SMOKE_TEST } from "../../resourceTypes";
import { checkedOptions } from "../program/programChecks";
import { secretInputs } from "../program/secretInputs";

/** The limits of the job's time. */
export interface SmokeTestPolicy {
  /**
   * The longest time that the job may run on a worker, in milliseconds: whole, 5 seconds to 7 days.
   * @default the endpoint's, else 600,000 (10 minutes)
   */
  executionTimeout?: pulumi.Input<number> | undefined;
  /** `true`: the job starts no workers. @default false */
  lowPriority?: pulumi.Input<boolean> | undefined;
  /**
   * How long the job exists, waiting and running together, in milliseconds: whole, 10 seconds to 7
   * days.
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
  /** Input of the job. State encrypts a secret input. Required unless `path` is set. */
  input?: pulumi.Input<Record<string, unknown>> | undefined;
  /**
   * The path of a load-balancing endpoint to request, such as `/v1/models`, instead of a job. The
   * request is sent again while the endpoint has no worker.
   * @default none: a job
   */
  path?: pulumi.Input<string> | undefined;
  /** The HTTP method, with `path`. @default "POST" with a body, "GET" without */
  method?: pulumi.Input<string> | undefined;
  /**
   * The body of the request, with `path`: a string as it is, any other value as JSON. State
   * encrypts a secret body.
   * @default none
   */
  body?: pulumi.Input<unknown> | undefined;
  /** The HTTP status that the response must have, with `path`: whole, 200 to 599. @default 200 */
  expectedStatus?: pulumi.Input<number> | undefined;
  /** Text that the body of the response must contain, with `path`. @default any body */
  expectedBody?: pulumi.Input<string> | undefined;
  /**
   * The expected output of the job. The fields of objects must be equal; the output may have
   * additional fields. Strings, numbers, booleans, `null` and lists must be equal. If they are not,
   * the error shows the first difference with both values, unless the expected value is secret.
   * @default any output
   */
  expectedOutput?: pulumi.Input<unknown> | undefined;
  /**
   * How long the job may take from submit to result, or the request until its response, in seconds
   * (integer, ≥ 1). After that the job is cancelled.
   * @default 300 (5 minutes)
   */
  timeout?: pulumi.Input<number> | undefined;
  /** Limits of the job's time at the service. @default those of the endpoint */
  policy?: pulumi.Input<SmokeTestPolicy> | undefined;
  /** Storage for the worker's own code to use. @default none */
  s3Config?: pulumi.Input<SmokeTestStorage> | undefined;
  /**
   * Values, such as the template's id, that run the job again when they change. A change to any
   * other argument also does.
   */
  triggers?: pulumi.Input<pulumi.Input<unknown>[]> | undefined;
}

/**
 * Runs one job on an endpoint, or requests one path of a load-balancing endpoint, when the resource
 * is created, and again whenever its arguments
 * change. Fails the `up` if the job fails, takes too long, or has an unexpected output. Resources
 * that depend on the test are then not changed. A response without the expected status fails it as
 * well.
 *
 * A lost response never makes it submit the job twice. After a failure, the next `up` runs the job
 * again. State holds the job's id, status and times, not its output.
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
  /** Id of the last job; `""` with `path`. */
  declare readonly jobId: pulumi.Output<string>;
  /** `COMPLETED`; with `path`, the HTTP status of the response, such as `200`. */
  declare readonly status: pulumi.Output<string>;
  /**
   * Time that the job waited for a worker, in whole milliseconds; 0 if the service does not report
   * it.
   */
  declare readonly delayTime: pulumi.Output<number>;
  /**
   * Time that the job ran, in whole milliseconds; 0 if the service does not report it. With `path`,
   * the time until the response.
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
 * Returns the storage with its key as a secret. A storage that is one output as a whole becomes
 * secret as a whole.
 */
function secretStorage(storage: pulumi.Input<SmokeTestStorage>): pulumi.Input<SmokeTestStorage> {
  if (pulumi.Output.isInstance(storage) || storage instanceof Promise) return pulumi.secret(storage);
  if (typeof storage !== "object" || storage === null) return storage;
  const { accessSecret } = storage;
  return accessSecret === undefined ? storage : { ...storage, accessSecret: pulumi.secret(accessSecret) };
}

/** Loads the handlers only here, because they load the client. */
function findProblems(values: Record<string, unknown>): InputProblem[] {
  const {
    smokeTestProblems,
  }: typeof import("../../smokeTest/smokeTestHandlers") = require("../../smokeTest/smokeTestHandlers");
  return smokeTestProblems(values);
}
