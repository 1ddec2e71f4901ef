import * as pulumi from "@pulumi/pulumi";
import type { InputProblem } from "../../sdk/errors";
import { checkedOptions } from "../program/programChecks";
import { SMOKE_TEST } from "../resourceTypes";

/** What a `SmokeTest` runs, and what must come of it. */
export interface SmokeTestArgs {
  /** Id of the endpoint, as in `endpoint.endpointId`. */
  endpointId: pulumi.Input<string>;
  /** Input of the job. May be secret: state then holds it encrypted. */
  input: pulumi.Input<Record<string, unknown>>;
  /**
   * What the job's output must hold: each of its fields must be there and equal; the output may have more. Texts, numbers,
   * booleans, `null` and lists must be equal. Default: any output will do.
   */
  expectedOutput?: pulumi.Input<unknown>;
  /** How long the job may take, from submit to result, in seconds. Then it is cancelled. Default 300 (5 minutes). */
  timeout?: pulumi.Input<number>;
  /** The job is run again when one of these, or any other argument, changes. For instance the template's id. */
  triggers?: pulumi.Input<pulumi.Input<unknown>[]>;
}

/**
 * Runs one job on an endpoint when it is created and whenever its arguments change, and fails the `up` when the job fails,
 * takes too long, or gives another output than is expected. What depends on it is then not touched.
 *
 * The job is never submitted twice because an answer was lost. After a failure the next `up` runs it again. Of the answer,
 * state holds the job's id, its status and its times, not its output.
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
  /** Milliseconds that the job waited before a worker took it; 0 when the service does not say. */
  declare readonly delayTime: pulumi.Output<number>;
  /** Milliseconds that it ran; 0 when the service does not say. */
  declare readonly executionTime: pulumi.Output<number>;

  constructor(name: string, args: SmokeTestArgs, options: pulumi.CustomResourceOptions = {}) {
    const outputs = { jobId: undefined, status: undefined, delayTime: undefined, executionTime: undefined };
    const { type, provider } = SMOKE_TEST;
    const checked = checkedOptions({ kind: "SmokeTest", type, name, args, options, findProblems });
    super(type, name, { ...args, ...outputs, __provider: provider }, checked);
  }
}

/** Loaded here: it brings the client along. */
function findProblems(values: Record<string, unknown>): InputProblem[] {
  const { problemsOf } = require("./handlers") as typeof import("./handlers");
  return problemsOf(values);
}
