import { isDeepStrictEqual } from "node:util";
import type * as pulumi from "@pulumi/pulumi";
import { type InputProblem, SmokeTestError } from "../../sdk/errors";
import type { JobHandle } from "../../sdk/jobs/jobHandle";
import { WaitTimeoutError } from "../../sdk/jobs/jobHandle";
import type { CompletedJob } from "../../sdk/jobs/jobRecord";
import { hideJobSecret } from "../../sdk/secret";
import { configure, connect } from "../connection/connection";
import { containsUnknown, type Properties, SECONDS } from "../properties";

const DEFAULT_TIMEOUT_SECONDS = 300;

const SHORTEST_HIDDEN_STRING = 8;

const KNOWN_INPUTS = ["endpointId", "input", "expectedOutput", "timeout", "triggers", "__provider"];

/** The handlers of a `SmokeTest`. It has no `diff`, so the engine compares the inputs; each change runs the job again. */
export const smokeTestHandlers: pulumi.dynamic.ResourceProvider = {
  configure,

  async check(_oldInputs, inputs: Properties) {
    const failures = problemsOf(inputs).map(({ property, message }) => ({ property, reason: message }));
    return { inputs, failures };
  },

  async create(inputs: Properties) {
    const outs = await runJob(inputs);
    return { id: outs.jobId, outs };
  },

  async update(_id, _outputs, inputs: Properties) {
    return { outs: await runJob(inputs) };
  },

  async read(id, outputs: Properties) {
    return { id, props: outputs };
  },

  // There is nothing to delete: jobs expire at the service.
  async delete() {},
};

/** Returns the problems of a `SmokeTest`'s inputs. */
export function problemsOf(inputs: Properties): InputProblem[] {
  const { endpointId, input, timeout } = inputs;
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  const wrong = (property: string, isRight: boolean, message: string): InputProblem[] =>
    isRight || containsUnknown(inputs[property]) ? [] : [{ property, message }];
  return [
    ...wrong("endpointId", typeof endpointId === "string" && endpointId !== "", "must be the id of an endpoint"),
    ...wrong("input", isObject, "must be an object: the input of the job"),
    ...wrong("timeout", timeout === undefined || SECONDS.allows(timeout), SECONDS.message),
    ...Object.keys(inputs)
      .filter((name) => !KNOWN_INPUTS.includes(name))
      .map((property) => ({
        property,
        message: `there is no such property. Allowed: ${KNOWN_INPUTS.slice(0, -1).join(", ")}`,
      })),
  ];
}

async function runJob({ endpointId, input, expectedOutput, timeout }: Properties) {
  const endpoint = connect().client.endpoint(String(endpointId));
  const timeoutMs = (typeof timeout === "number" ? timeout : DEFAULT_TIMEOUT_SECONDS) * 1000;
  hideStrings(input);
  const job = await endpoint.run({ input: input as Record<string, unknown> });
  const done = await job.wait({ timeoutMs }).catch((error: unknown) => {
    if (error instanceof WaitTimeoutError) return cancelLate(job, timeoutMs / 1000);
    throw error;
  });
  const mismatch = expectedOutput === undefined ? undefined : findMismatch(done.output, expectedOutput, "output");
  if (mismatch !== undefined) {
    throw new SmokeTestError(
      `job ${job.id} at endpoint ${endpointId} completed, but its ${mismatch} is not as expected. Check the template ` +
        "and expectedOutput",
    );
  }
  return { jobId: job.id, status: done.status, delayTime: done.delayTime ?? 0, executionTime: done.executionTime ?? 0 };
}

/** Hides the strings of an input in errors, which may repeat them. Hiding short strings would make errors unreadable. */
function hideStrings(value: unknown): void {
  if (typeof value === "string" && value.length >= SHORTEST_HIDDEN_STRING) hideJobSecret(value);
  if (typeof value === "object" && value !== null) Object.values(value).forEach(hideStrings);
}

/** Cancels a job that takes too long. Otherwise it would continue, and cause costs. */
async function cancelLate(job: JobHandle, seconds: number): Promise<CompletedJob> {
  const tooLong = `job ${job.id} at endpoint ${job.endpointId} did not end within ${seconds} s`;
  const { status } = await job.cancel().catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SmokeTestError(`${tooLong}, and could not be cancelled, so it may continue and cause costs: ${reason}`);
  });
  // It had ended, but the client did not see that in time.
  if (status === "COMPLETED") return job.wait();
  throw new SmokeTestError(
    `${tooLong}; its status is ${status}. Check that the endpoint's workers start, or set a longer timeout`,
  );
}

/** Returns the place of the first difference, without its value, which may be secret. Additional fields are allowed. */
function findMismatch(actual: unknown, expected: unknown, place: string): string | undefined {
  if (typeof expected !== "object" || expected === null || Array.isArray(expected)) {
    return isDeepStrictEqual(actual, expected) ? undefined : place;
  }
  if (typeof actual !== "object" || actual === null) return place;
  for (const [key, value] of Object.entries(expected)) {
    const mismatch = findMismatch((actual as Properties)[key], value, `${place}.${key}`);
    if (mismatch !== undefined) return mismatch;
  }
  return undefined;
}
