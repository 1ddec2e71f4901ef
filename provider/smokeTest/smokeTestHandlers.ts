import type * as pulumi from "@pulumi/pulumi";
import { systemClock } from "../../sdk/contract/clock";
import { explainWait } from "../../sdk/diagnosis/waits";
import { CodedError, type InputProblem, InvalidInputError, ServerlessGpuError } from "../../sdk/errors/errors";
import type { JobHandle } from "../../sdk/jobs/jobHandle";
import type { CompletedJob } from "../../sdk/jobs/jobRecord";
import {
  checkJobRequest,
  emptyInputWarnings,
  type JobPolicy,
  type JobRequest,
  type S3Config,
} from "../../sdk/jobs/jobRequest";
import { noSuchProperty } from "../../sdk/records/input";
import { configure, connect } from "../connection/connection";
import { cancelled } from "../engine/cancellation";
import { initFailure } from "../engine/errors";
import { log, logChange, waitLogger } from "../engine/log";
import { containsUnknown, isObject, type Properties, SECONDS } from "../engine/properties";
import { withEvidence } from "./evidence";
import { assertExpected, hideInput } from "./expectedOutput";
import { inOwnWords } from "./ownWords";
import { REQUEST_INPUTS, requestName, requestProblems, testRequest } from "./requestTest";

const DEFAULT_TIMEOUT_SECONDS = 300;
const LOG_EVERY_MS = 10_000;

const KNOWN_INPUTS = [
  "endpointId",
  "input",
  "expectedOutput",
  "timeout",
  "policy",
  "s3Config",
  "triggers",
  ...REQUEST_INPUTS,
];
const POLICY_KEYS = ["executionTimeout", "lowPriority", "ttl"] as const satisfies (keyof JobPolicy)[];
const S3_KEYS = ["accessId", "accessSecret", "bucketName", "endpointUrl"] as const satisfies (keyof S3Config)[];
const OWN_INPUTS = ["__provider", "__secretInputs"];

/**
 * The handlers of a `SmokeTest`. The engine compares the inputs, and each change runs the test
 * again.
 */
export const smokeTestHandlers: pulumi.dynamic.ResourceProvider = {
  configure,

  async check(_oldInputs, inputs: Properties) {
    for (const warning of isObject(inputs.input) ? emptyInputWarnings(inputs.input) : []) {
      log(`SmokeTest of endpoint ${inputs.endpointId}`, `warning: ${warning}`);
    }
    const failures = smokeTestProblems(inputs).map(({ property, message }) => ({ property, reason: message }));
    return { inputs, failures };
  },

  async create(inputs: Properties) {
    const outs = await explainedTest(inputs);
    return { id: outs.jobId || `${inputs.endpointId}-request`, outs };
  },

  // A failed test runs again even if the program returns to the inputs of the last success, because
  // the system under test has changed twice since then.
  async diff(_id, outputs: Properties) {
    return hasTestFailed(outputs) ? { changes: true } : {};
  },

  async update(id, outputs: Properties, inputs: Properties) {
    try {
      return { outs: await explainedTest(inputs) };
    } catch (error) {
      throw initFailure(error, id, { ...outputs, __failed: true, __provider: inputs.__provider });
    }
  },

  async read(id, outputs: Properties) {
    return { id, props: outputs };
  },

  // There's nothing to delete, because jobs expire at RunPod.
  async delete() {},
};

/**
 * Returns `true` if the last test failed. The outputs record this, because a refresh discards the
 * failure.
 */
export function hasTestFailed({ __failed }: Properties): boolean {
  return __failed === true;
}

/** Returns the problems with a `SmokeTest`'s inputs. */
export function smokeTestProblems(inputs: Properties): InputProblem[] {
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

/** Returns the problems with `policy` and `s3Config`, according to the client's rules. */
function jobProblems({ policy, s3Config }: Properties): InputProblem[] {
  const known = Object.entries({ policy, s3Config }).filter(
    ([, value]) => value !== undefined && !containsUnknown(value),
  );
  const unknown = known.flatMap(([property, value]) => unknownKeys(property, value));
  try {
    checkJobRequest("run", { input: {}, ...Object.fromEntries(known) });
    return unknown;
  } catch (error) {
    if (error instanceof InvalidInputError) return [...unknown, ...error.problems.map(withValue({ policy, s3Config }))];
    throw error;
  }
}

/**
 * Returns a problem for each unknown key of an object. The client passes unknown keys on, because
 * RunPod may have added new keys. In a program, however, an unknown key is a mistake.
 */
function unknownKeys(property: string, value: unknown): InputProblem[] {
  const keys: readonly string[] = property === "policy" ? POLICY_KEYS : S3_KEYS;
  return Object.keys(isObject(value) ? value : {})
    .filter((key) => !keys.includes(key))
    .map((key) => ({
      property: `${property}.${key}`,
      message: noSuchProperty(key, keys),
    }));
}

/**
 * Returns a function that adds the value of a nested property to its problem, except for the values
 * of S3 settings.
 */
function withValue(inputs: Properties): (problem: InputProblem) => InputProblem {
  return (problem) => {
    const [field = "", key = ""] = problem.property.split(".");
    const parent = inputs[field];
    if (field !== "policy" || !isObject(parent) || !(key in parent)) return problem;
    return { ...problem, message: `is ${JSON.stringify(parent[key])}, and ${problem.message}` };
  };
}

/** Runs a test once. Its error shows the workers' logs. */
async function explainedTest(inputs: Properties) {
  return runTest(inputs).catch(async (error: unknown) => {
    throw await withEvidence(error, connect().client, String(inputs.endpointId));
  });
}

/**
 * Runs a test once.
 * @throws SMOKE_TEST or JobFailedError if the test fails
 */
export async function runTest(inputs: Properties) {
  const { timeout, path } = inputs;
  const timeoutMs = (typeof timeout === "number" ? timeout : DEFAULT_TIMEOUT_SECONDS) * 1000;
  hideInput(inputs);
  const startedAt = systemClock.monotonic();
  const logPassed = (what: string) => {
    const seconds = ((systemClock.monotonic() - startedAt) / 1000).toFixed(1);
    log("SmokeTest", `${what} passed after ${seconds} s`);
  };
  if (path === undefined) {
    const outs = await runJob(inputs, timeoutMs).catch((error: unknown) => {
      throw inOwnWords(error);
    });
    logPassed(`job ${outs.jobId} at endpoint ${inputs.endpointId}`);
    return outs;
  }
  const { status, ms } = await testRequest(inputs, timeoutMs);
  logPassed(requestName(inputs));
  return { jobId: "", status: String(status), delayTime: 0, executionTime: ms };
}

async function runJob(inputs: Properties, timeoutMs: number) {
  const { endpointId, input, policy, s3Config } = inputs;
  const { client } = connect();
  const endpoint = client.endpoint(String(endpointId));
  const job = await endpoint.run({ input, policy, s3Config } as JobRequest);
  const name = `test of endpoint ${endpointId}`;
  const logWait = waitLogger(name);
  const startedAt = systemClock.monotonic();
  const why = explainWait(client.endpoints, systemClock, String(endpointId), "jobs", cancelled);
  const tell = () => {
    const elapsedMs = systemClock.monotonic() - startedAt;
    logWait(`waiting for job ${job.id}`, elapsedMs);
    logChange(name, why.look(elapsedMs));
  };
  const timer = setInterval(tell, LOG_EVERY_MS);
  const ended = job.wait({ timeoutMs, signal: cancelled, onAbort: "cancel" });
  const done = await ended
    .finally(() => {
      clearInterval(timer);
      why.end();
    })
    .catch((error: unknown) => {
      // We compare the code, because importing the error's class would load the client before it is
      // needed.
      if (error instanceof ServerlessGpuError && error.code === "WAIT_TIMEOUT")
        return cancelLate(job, timeoutMs / 1000);
      throw error;
    });
  assertExpected(`job ${job.id} at endpoint ${endpointId}`, done.output, inputs);
  return { jobId: job.id, status: done.status, delayTime: done.delayTime ?? 0, executionTime: done.executionTime ?? 0 };
}

/**
 * Cancels a job that takes too long. Otherwise the job would continue and you would be charged for
 * it.
 */
async function cancelLate(job: JobHandle, seconds: number): Promise<CompletedJob> {
  const tooLong = `job ${job.id} at endpoint ${job.endpointId} did not end within ${seconds} s`;
  const { status } = await job.cancel().catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CodedError(
      "SMOKE_TEST",
      `${tooLong}, and could not be cancelled. It may continue, and you may still be charged for it: ${reason}`,
    );
  });
  // The job had already ended, but the client did not see that in time.
  if (status === "COMPLETED") return job.wait();
  throw new CodedError(
    "SMOKE_TEST",
    `${tooLong}, so this run cancelled it; its status is ${status}. Check that the endpoint's workers start, or set a longer timeout`,
  );
}
