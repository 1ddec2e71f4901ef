import type { InputProblem } from "../../sdk/errors";
import { SECONDS, TRUE_OR_FALSE } from "../properties";
import { checkOwnInputs, commonRules, type OwnRules } from "../resource/ownInputs";

/** Inputs that the provider uses itself and does not send to the service. */
const RULES = {
  ...commonRules("an endpoint"),
  drain: TRUE_OR_FALSE,
  drainTimeout: SECONDS,
  awaitReady: TRUE_OR_FALSE,
  awaitReadyTimeout: SECONDS,
  templateRevision: {
    message: "must be the revision of a template: a whole number, 0 or more",
    allows: (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0,
  },
  recycleWorkers: TRUE_OR_FALSE,
} satisfies OwnRules;

/** The name of an input that the provider does not send to the service. */
export type ProviderOnlyInput = keyof typeof RULES;

export function isProviderOnlyInput(name: string): name is ProviderOnlyInput {
  return Object.hasOwn(RULES, name);
}

/** The provider-only inputs that may change without a change at the service. */
export const CONTROL_INPUTS = [
  "drain",
  "drainTimeout",
  "awaitReady",
  "awaitReadyTimeout",
  "templateRevision",
  "recycleWorkers",
  "__secretInputs",
] as const satisfies ProviderOnlyInput[];

/** Returns the valid inputs and the problems of the others. `null` counts as not set. */
export function checkProviderOnlyInputs(given: Readonly<Record<string, unknown>>): {
  inputs: Record<string, unknown>;
  problems: InputProblem[];
} {
  return checkOwnInputs(RULES, given);
}
