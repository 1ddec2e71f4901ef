import * as pulumi from "@pulumi/pulumi";
import type { InputProblem } from "../../sdk/errors";
import { checkedOptions } from "../program/programChecks";
import { SMOKE_TEST } from "../resourceTypes";

/** The arguments of a `SmokeTest`. */
export interface SmokeTestArgs {
  /** Id of the endpoint, such as `endpoint.endpointId`. */
  endpointId: pulumi.Input<string>;
  /** Input of the job. State encrypts a secret input. */
  input: pulumi.Input<Record<string, unknown>>;
  /**
   * The expected output of the job. The fields of objects must be equal; the output may have additional fields. Strings,
   * numbers, booleans, `null` and lists must be equal.
   * @default any output
   */
  expectedOutput?: pulumi.Input<unknown>;
  /**
   * Time that the job may take from submit to result, in seconds (whole, ≥ 1). After that the job is cancelled.
   * @default 300 (5 minutes)
   */
  timeout?: pulumi.Input<number>;
  /** Values, such as the id of the template, whose change runs the job again. So does a change of any other argument. */
  triggers?: pulumi.Input<pulumi.Input<unknown>[]>;
}

/**
 * Runs one job on an endpoint when the resource is created, and again whenever its arguments change. Fails the `up` if
 * the job fails, takes too long, or has an unexpected output. Resources that depend on it are then not changed.
 *
 * A lost response never makes it submit the job twice. After a failure, the next `up` runs the job again. State holds the
 * job's id, status and times, not its output.
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
  /** Time that the job waited for a worker, in milliseconds; 0 if the service does not report it. */
  declare readonly delayTime: pulumi.Output<number>;
  /** Time that the job ran, in milliseconds; 0 if the service does not report it. */
  declare readonly executionTime: pulumi.Output<number>;

  constructor(name: string, args: SmokeTestArgs, options: pulumi.CustomResourceOptions = {}) {
    const outputs = { jobId: undefined, status: undefined, delayTime: undefined, executionTime: undefined };
    const { type, provider } = SMOKE_TEST;
    const checked = checkedOptions({ kind: "SmokeTest", type, name, args, options, findProblems });
    super(type, name, { ...args, ...outputs, __provider: provider }, checked);
  }
}

/** Loads the handlers only here, because they load the client. */
function findProblems(values: Record<string, unknown>): InputProblem[] {
  const { problemsOf } = require("./smokeTestHandlers") as typeof import("./smokeTestHandlers");
  return problemsOf(values);
}
