import type { Capabilities, EndpointLimits } from "../contract/capabilities";
import { type InputProblem, InvalidInputError } from "../errors";
import { type FieldPlace, lackedAt } from "../records/fields";
import { FIELDS } from "./fields";
import type { EndpointInput, EndpointSettings } from "./record";

/**
 * The settings that an interface may limit more narrowly than the contract, and the scaler type
 * that determines their meaning.
 */
export type LimitedSettings = Partial<
  Pick<
    EndpointSettings,
    "scalerType" | "scalerValue" | "idleTimeout" | "type" | "allowedCudaVersions" | "minCudaVersion"
  >
>;

/** Returns the problems of values that the contract accepts and REST v2 does not. */
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
 * Returns the problem with `drain: false` over an interface that cannot delete an endpoint with its
 * workers.
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
 * Refuses values that an interface of the service does not have.
 * @throws InvalidInputError if there are any
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
