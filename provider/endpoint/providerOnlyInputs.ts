import type { InputProblem } from "../../sdk/errors";
import { type InputRule, SECONDS } from "../properties";

/** Inputs that are not the service's: they say how the provider goes about it. */
const RULES = {
  adoptId: {
    message: "must be the id of an endpoint: letters, digits, hyphens, underscores",
    allows: (value) => typeof value === "string" && /^[A-Za-z0-9_-]+$/.test(value),
  },
  drainTimeout: SECONDS,
  awaitReady: { message: "must be true or false", allows: (value) => typeof value === "boolean" },
  awaitReadyTimeout: SECONDS,
  __adopter: { message: "is set by the provider", allows: (value) => typeof value === "string" },
  __automaticName: { message: "is set by the provider", allows: (value) => typeof value === "string" },
  __secretInputs: { message: "is set by the provider", allows: (value) => typeof value === "string" },
} satisfies Record<string, InputRule>;

/** The name of an input that is not the service's. */
export type ProviderOnlyInput = keyof typeof RULES;

export function isProviderOnlyInput(name: string): name is ProviderOnlyInput {
  return Object.hasOwn(RULES, name);
}

/** Own inputs of which a change changes nothing at the service. */
export const CONTROL_INPUTS = [
  "drainTimeout",
  "awaitReady",
  "awaitReadyTimeout",
  "__secretInputs",
] as const satisfies ProviderOnlyInput[];

/** Those that are given, and what is wrong with them. `null` is as good as not given. */
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
