import type { InputProblem } from "../../sdk/errors";
import { ID_CHARACTERS, isPathSegment } from "../../sdk/transport/urls";
import { type InputRule, SECONDS } from "../properties";

/** Inputs that the provider uses itself and does not send to the service. */
const RULES = {
  adoptId: {
    message: `must be the id of an endpoint: ${ID_CHARACTERS}`,
    allows: isPathSegment,
  },
  drainTimeout: SECONDS,
  awaitReady: { message: "must be true or false", allows: (value) => typeof value === "boolean" },
  awaitReadyTimeout: SECONDS,
  __adopter: { message: "is set by the provider", allows: (value) => typeof value === "string" },
  __automaticName: { message: "is set by the provider", allows: (value) => value === true },
  __secretInputs: { message: "is set by the provider", allows: (value) => typeof value === "string" },
} satisfies Record<string, InputRule>;

/** The name of an input that the provider does not send to the service. */
export type ProviderOnlyInput = keyof typeof RULES;

export function isProviderOnlyInput(name: string): name is ProviderOnlyInput {
  return Object.hasOwn(RULES, name);
}

/** The provider-only inputs that may change without a change at the service. */
export const CONTROL_INPUTS = [
  "drainTimeout",
  "awaitReady",
  "awaitReadyTimeout",
  "__secretInputs",
] as const satisfies ProviderOnlyInput[];

/** Returns the valid inputs and the problems of the others. `null` counts as not set. */
export function checkProviderOnlyInputs(given: Readonly<Record<string, unknown>>): {
  inputs: Record<string, unknown>;
  problems: InputProblem[];
} {
  const entries = Object.entries(given).filter(([, value]) => value !== null);
  const isAllowed = ([name, value]: [string, unknown]) => RULES[name as ProviderOnlyInput].allows(value);
  return {
    inputs: Object.fromEntries(entries.filter(isAllowed)),
    problems: entries
      .filter((entry) => !isAllowed(entry))
      .map(([property]) => ({ property, message: RULES[property as ProviderOnlyInput].message })),
  };
}
