import * as pulumi from "@pulumi/pulumi";
import type { InputProblem } from "../../sdk/errors";
import { checkedOptions } from "../program/programChecks";
import { secretInputs } from "../program/secretInputs";
import { SMOKE_TEST } from "../resourceTypes";

/** The limits of the job's time. */
export interface SmokeTestPolicy {
  /**
   * The longest time that the job may run on a worker, in milliseconds: whole, 5 seconds to 7 days.
   * @default the endpoint's, else 600,000 (10 minutes)
   */
  executionTimeout?: pulumi.Input<number>;
  /** `true`: the job does not start workers. @default false */
  lowPriority?: pulumi.Input<boolean>;
  /**
   * The time for which the job exists, waiting and running together, in milliseconds: whole, 10
   * seconds to 7 days.
   * @default 86,400,000 (24 hours)
   */
  ttl?: pulumi.Input<number>;
}

/** Storage for the worker of the job. The worker's own code must use it. */
export interface SmokeTestStorage {
  /** The bucket's access key id. @default none */
  accessId?: pulumi.Input<string>;
  /** The bucket's secret access key. State encrypts it. @default none */
  accessSecret?: pulumi.Input<string>;
  /** The bucket's name. @default none */
  bucketName?: pulumi.Input<string>;
  /** The bucket's URL. @default none */
  endpointUrl?: pulumi.Input<string>;
}

/** The arguments of a `SmokeTest`. */
export interface SmokeTestArgs {
  /** Id of the endpoint, such as `endpoint.endpointId`. */
  endpointId: pulumi.Input<string>;
  /** Input of the job. State encrypts a secret input. */
  input: pulumi.Input<Record<string, unknown>>;
  /**
   * The expected output of the job. The fields of objects must be equal; the output may have
   * additional fields. Strings, numbers, booleans, `null` and lists must be equal. If they are not,
   * the error shows the first difference with both values, unless the expected value is secret.
   * @default any output
   */
  expectedOutput?: pulumi.Input<unknown>;
  /**
   * Time that the job may take from submit to result, in seconds (whole, ≥ 1). After that the job
   * is cancelled.
   * @default 300 (5 minutes)
   */
  timeout?: pulumi.Input<number>;
  /** Limits of the job's time at the service. @default those of the endpoint */
  policy?: pulumi.Input<SmokeTestPolicy>;
  /** Storage for the worker's own code to use. @default none */
  s3Config?: pulumi.Input<SmokeTestStorage>;
  /**
   * Values, such as the id of the template, whose change runs the job again. So does a change of
   * any other argument.
   */
  triggers?: pulumi.Input<pulumi.Input<unknown>[]>;
}

/**
 * Runs one job on an endpoint when the resource is created, and again whenever its arguments
 * change. Fails the `up` if the job fails, takes too long, or has an unexpected output. Resources
 * that depend on it are then not changed.
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
  /** Id of the last job. */
  declare readonly jobId: pulumi.Output<string>;
  /** `COMPLETED`. */
  declare readonly status: pulumi.Output<string>;
  /**
   * Time that the job waited for a worker, in milliseconds; 0 if the service does not report it.
   */
  declare readonly delayTime: pulumi.Output<number>;
  /** Time that the job ran, in milliseconds; 0 if the service does not report it. */
  declare readonly executionTime: pulumi.Output<number>;

  constructor(name: string, args: SmokeTestArgs, options: pulumi.CustomResourceOptions = {}) {
    const { type, provider } = SMOKE_TEST;
    const outputs = Object.fromEntries(SMOKE_TEST.outputs.map((output) => [output, undefined]));
    const checked = checkedOptions({ kind: "SmokeTest", type, name, args, options, findProblems });
    const { expectedOutput, s3Config } = args;
    const secrets = {
      ...secretInputs({ expectedOutput }, options),
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
  const { problemsOf }: typeof import("./smokeTestHandlers") = require("./smokeTestHandlers");
  return problemsOf(values);
}
