import type { InputProblem } from "../../sdk/errors";
import { ID_CHARACTERS, isPathSegment } from "../../sdk/transport/urls";

/** What a value must be, and the test for it. */
interface Rule {
  readonly must: string;
  readonly allows: (value: unknown) => boolean;
}

/** How long something may take. */
export const SECONDS: Rule = {
  must: "must be whole seconds, 1 or more",
  allows: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
};

/** Inputs that are not the service's: they say how the provider goes about it. */
const RULES = {
  adoptId: {
    must: `must be the id of an endpoint: ${ID_CHARACTERS}`,
    allows: isPathSegment,
  },
  drainTimeout: SECONDS,
  awaitReady: { must: "must be true or false", allows: (value) => typeof value === "boolean" },
  awaitReadyTimeout: SECONDS,
  __automaticName: { must: "is set by the provider", allows: (value) => value === true },
  __secretInputs: { must: "is set by the provider", allows: (value) => typeof value === "string" },
} satisfies Record<string, Rule>;

/** The name of an input that is not the service's. */
export type OwnInput = keyof typeof RULES;

export function isOwnInput(name: string): name is OwnInput {
  return Object.hasOwn(RULES, name);
}

/** Own inputs of which a change changes nothing at the service. */
export const STEERING_INPUTS = [
  "drainTimeout",
  "awaitReady",
  "awaitReadyTimeout",
  "__secretInputs",
] as const satisfies OwnInput[];

/** Those that are given, and what is wrong with them. `null` is as good as not given. */
export function checkOwnInputs(given: Readonly<Record<string, unknown>>): {
  inputs: Record<string, unknown>;
  problems: InputProblem[];
} {
  const entries = Object.entries(given).filter(([, value]) => value !== null);
  const isAllowed = ([name, value]: [string, unknown]) => RULES[name as OwnInput].allows(value);
  return {
    inputs: Object.fromEntries(entries.filter(isAllowed)),
    problems: entries
      .filter((entry) => !isAllowed(entry))
      .map(([property]) => ({ property, message: RULES[property as OwnInput].must })),
  };
}
