import type { Capabilities } from "../../sdk/contract/capabilities";
import { drainProblems, type LimitedSettings, limitProblems } from "../../sdk/endpoints/interfaceLimits";
import type { InputProblem } from "../../sdk/errors";
import { type Properties, pick } from "../properties";

/**
 * Returns the problems of inputs that the management interface does not accept, so that a preview shows them. Values of the
 * last run are no problem: another interface has accepted them, and they are not sent again.
 */
export function interfaceProblems(
  oldInputs: Properties,
  inputs: Properties,
  { endpointLimits, ...abilities }: Capabilities,
): InputProblem[] {
  const problems = drainProblems(abilities, inputs.drain);
  // An endpoint that is adopted may have them already.
  if (!endpointLimits || inputs.adoptId !== undefined) return problems;
  const isSent = (field: string) => inputs[field] !== oldInputs[field] || inputs.scalerType !== oldInputs.scalerType;
  const numbers = pick(inputs, (field) => isSent(field) && typeof inputs[field] === "number");
  const sent = { ...numbers, scalerType: inputs.scalerType } as LimitedSettings;
  return [...problems, ...limitProblems(endpointLimits, sent)];
}
