import type { Capabilities, EndpointLimits } from "../contract/capabilities";
import { type InputProblem, InvalidInputError } from "../errors/errors";
import { type FieldPlace, lackedAt } from "../records/fields";
import { FIELDS } from "./fields";
import type { EndpointInput, EndpointSettings } from "./record";

/**
 * The settings for which an API may have narrower limits than the contract. The scaler type is
 * included because it determines what the other settings mean.
 */
export type LimitedSettings = Partial<
  Pick<
    EndpointSettings,
    "scalerType" | "scalerValue" | "idleTimeout" | "type" | "allowedCudaVersions" | "minCudaVersion"
  >
>;

/** Returns problems with values that the contract accepts, but REST v2 does not. */
export function limitProblems(
  { idleTimeout: seconds, leastDelay, hasOneCudaRule }: EndpointLimits,
  sent: LimitedSettings,
): InputProblem[] {
  const { scalerType, scalerValue, idleTimeout, type, allowedCudaVersions, minCudaVersion } = sent;
  const problems: InputProblem[] = [];
  const isByRequests = scalerType === "REQUEST_COUNT";
  const hasTimeout = !isByRequests || type === "LOAD_BALANCER";
  if (hasTimeout && idleTimeout !== undefined && (idleTimeout < seconds.min || idleTimeout > seconds.max)) {
    const message = `is ${idleTimeout}; REST v2 accepts ${seconds.min} to ${seconds.max} seconds`;
    problems.push({ property: "idleTimeout", message });
  }
  if (scalerValue !== undefined && isByRequests && !(Number.isInteger(scalerValue) && scalerValue >= 1)) {
    const message = `is ${scalerValue}; REST v2 accepts a whole number of jobs, 1 or more, with REQUEST_COUNT`;
    problems.push({ property: "scalerValue", message });
  }
  if (scalerValue !== undefined && !isByRequests && scalerValue < leastDelay) {
    problems.push({
      property: "scalerValue",
      message: `is ${scalerValue}; REST v2 accepts ${leastDelay} seconds or more`,
    });
  }
  if (hasOneCudaRule && allowedCudaVersions && minCudaVersion) {
    const message = "cannot be combined with allowedCudaVersions over REST v2: remove one of them";
    problems.push({ property: "minCudaVersion", message });
  }
  return problems;
}

/**
 * Returns a problem if `drain` is `false` and the API cannot delete an endpoint that has workers.
 */
export function drainProblems(
  { deletesWorkers }: Pick<Capabilities, "deletesWorkers">,
  drain: unknown,
): InputProblem[] {
  if (drain !== false || deletesWorkers) return [];
  const message =
    "is false, but only REST v2 deletes an endpoint with its workers. Remove drain, or switch to REST v2 (SERVERLESS_GPU_API=v2)";
  return [{ property: "drain", message }];
}

/**
 * Checks that an API of the service supports these values.
 * @throws InvalidInputError if it does not support all of them
 */
export function refuseLacked(
  what: string,
  settings: Partial<EndpointSettings>,
  sent: readonly (keyof EndpointInput)[],
  place: FieldPlace,
): void {
  const problems = sent.flatMap((property) => {
    const message = lackedAt(FIELDS[property], settings[property], place);
    return message === undefined ? [] : [{ property, message }];
  });
  if (problems.length > 0) throw new InvalidInputError(what, problems);
}
