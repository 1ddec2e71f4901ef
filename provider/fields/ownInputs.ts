import type { InputProblem } from "../../sdk/errors/errors";
import { ID_CHARACTERS, isPathSegment } from "../../sdk/transport/urls";
import type { InputRule } from "../engine/properties";

/** The rules for inputs that only the provider uses and that are not sent to RunPod. */
export type OwnRules = Readonly<Record<string, InputRule>>;

/**
 * Returns the rules that apply to every resource with a name. `one` is the kind with its article,
 * such as `an endpoint`.
 */
export function commonRules(one: string) {
  const setByProvider = "is set by the provider";
  return {
    adoptId: { message: `must be the id of ${one}: ${ID_CHARACTERS}`, allows: isPathSegment },
    // `false` marks an adopted record, which keeps its own name. A string identifies a resource
    // whose name is generated only when its record is created.
    __automaticName: { message: setByProvider, allows: (value) => ["boolean", "string"].includes(typeof value) },
    __imported: { message: setByProvider, allows: (value) => value === true },
    __secretInputs: { message: setByProvider, allows: (value) => typeof value === "string" },
  } satisfies OwnRules;
}

/** Returns the valid inputs, and the problems with the invalid ones. `null` counts as not set. */
export function checkOwnInputs(
  rules: OwnRules,
  ownInputs: Readonly<Record<string, unknown>>,
): { inputs: Record<string, unknown>; problems: InputProblem[] } {
  const entries = Object.entries(ownInputs).filter(([, value]) => value !== null);
  const isAllowed = ([name, value]: [string, unknown]) => rules[name]?.allows(value) ?? false;
  return {
    inputs: Object.fromEntries(entries.filter(isAllowed)),
    problems: entries
      .filter((entry) => !isAllowed(entry))
      .map(([property]) => ({ property, message: rules[property]?.message ?? "is not known" })),
  };
}
