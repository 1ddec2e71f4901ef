import type * as pulumi from "@pulumi/pulumi";
import { systemClock } from "../../sdk/contract/clock";
import { type InputProblem, InvalidInputError, ServerlessGpuError, SmokeTestError } from "../../sdk/errors";
import type { JobHandle } from "../../sdk/jobs/jobHandle";
import type { CompletedJob } from "../../sdk/jobs/jobRecord";
import { checkJobRequest, type JobRequest } from "../../sdk/jobs/jobRequest";
import { noSuchProperty } from "../../sdk/records/input";
import { cancelled } from "../cancellation";
import { configure, connect } from "../connection/connection";
import { waitLogger } from "../log";
import { containsUnknown, isObject, type Properties, SECONDS } from "../properties";
import { assertExpected, hideInput } from "./expectedOutput";
import { REQUEST_INPUTS, requestProblems, testRequest } from "./requestTest";

const DEFAULT_TIMEOUT_SECONDS = 300;
const LOG_EVERY_MS = 10_000;

const KNOWN_INPUTS = [
  ...["endpointId", "input", "expectedOutput", "timeout", "policy", "s3Config", "triggers"],
  ...REQUEST_INPUTS,
];
const OWN_INPUTS = ["__provider", "__secretInputs"];

/**
 * The handlers of a `SmokeTest`. It has no `diff`, so the engine compares the inputs; each change
 * runs the job again.
 */
export const smokeTestHandlers: pulumi.dynamic.ResourceProvider = {
  configure,

  async check(_oldInputs, inputs: Properties) {
    const failures = problemsOf(inputs).map(({ property, message }) => ({ property, reason: message }));
    return { inputs, failures };
  },

  async create(inputs: Properties) {
    const outs = await runTest(inputs);
    return { id: outs.jobId || `${inputs.endpointId}-request`, outs };
  },

  async update(_id, _outputs, inputs: Properties) {
    return { outs: await runTest(inputs) };
  },

  async read(id, outputs: Properties) {
    return { id, props: outputs };
  },

  // There is nothing to delete: jobs expire at the service.
  async delete() {},
};

/** Returns the problems of a `SmokeTest`'s inputs. */
export function problemsOf(inputs: Properties): InputProblem[] {
  const { endpointId, input, timeout, path } = inputs;
  const wrong = (property: string, isRight: boolean, message: string): InputProblem[] =>
    isRight || containsUnknown(inputs[property]) ? [] : [{ property, message }];
  return [
    ...wrong("endpointId", typeof endpointId === "string" && endpointId !== "", "must be the id of an endpoint"),
    ...(path === undefined
      ? wrong(
          "input",
          isObject(input),
          "must be an object: the input of the job (or set path for a load-balancing endpoint)",
        )
      : []),
    ...requestProblems(inputs),
    ...wrong("timeout", timeout === undefined || SECONDS.allows(timeout), SECONDS.message),
    ...jobProblems(inputs),
    ...Object.keys(inputs)
      .filter((name) => !KNOWN_INPUTS.includes(name) && !OWN_INPUTS.includes(name))
      .map((property) => ({
        property,
        message: noSuchProperty(property, KNOWN_INPUTS),
      })),
  ];
}

/** Returns the problems of `policy` and `s3Config`, by the rules of the client. */
function jobProblems({ policy, s3Config }: Properties): InputProblem[] {
  const known = Object.entries({ policy, s3Config }).filter(
    ([, value]) => value !== undefined && !containsUnknown(value),
  );
  try {
    checkJobRequest("run", { input: {}, ...Object.fromEntries(known) });
    return [];
  } catch (error) {
    if (error instanceof InvalidInputError) return [...error.problems];
    throw error;
  }
}

async function runTest(inputs: Properties) {
  const { timeout, path } = inputs;
  const timeoutMs = (typeof timeout === "number" ? timeout : DEFAULT_TIMEOUT_SECONDS) * 1000;
  hideInput(inputs);
  if (path === undefined) return runJob(inputs, timeoutMs);
  const { status, ms } = await testRequest(inputs, timeoutMs);
  return { jobId: "", status: String(status), delayTime: 0, executionTime: ms };
}

async function runJob(inputs: Properties, timeoutMs: number) {
  const { endpointId, input, policy, s3Config } = inputs;
  const endpoint = connect().client.endpoint(String(endpointId));
  const job = await endpoint.run({ input, policy, s3Config } as JobRequest);
  const logWait = waitLogger(`SmokeTest of endpoint ${endpointId}`);
  const startedAt = systemClock.monotonic();
  const tell = () => logWait(`waiting for job ${job.id}`, systemClock.monotonic() - startedAt);
  const timer = setInterval(tell, LOG_EVERY_MS);
  const ended = job.wait({ timeoutMs, signal: cancelled, onAbort: "cancel" });
  const done = await ended
    .finally(() => clearInterval(timer))
    .catch((error: unknown) => {
      // Compared by its code, because importing its class would load the client before it is needed.
      if (error instanceof ServerlessGpuError && error.code === "WAIT_TIMEOUT")
        return cancelLate(job, timeoutMs / 1000);
      throw error;
    });
  assertExpected(`job ${job.id} at endpoint ${endpointId}`, done.output, inputs);
  return { jobId: job.id, status: done.status, delayTime: done.delayTime ?? 0, executionTime: done.executionTime ?? 0 };
}

/**
 * Cancels a job that takes too long. Otherwise it would continue, and you would be charged for it.
 */
async function cancelLate(job: JobHandle, seconds: number): Promise<CompletedJob> {
  const tooLong = `job ${job.id} at endpoint ${job.endpointId} did not end within ${seconds} s`;
  const { status } = await job.cancel().catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SmokeTestError(
      `${tooLong}, and could not be cancelled. It may continue, and you may still be charged for it: ${reason}`,
    );
  });
  // The job had ended, but the client did not see that in time.
  if (status === "COMPLETED") return job.wait();
  throw new SmokeTestError(
    `${tooLong}; its status is ${status}. Check that the endpoint's workers start, or set a longer timeout`,
  );
}
