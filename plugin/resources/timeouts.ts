import { type Properties, pick } from "../../provider/engine/properties";

/** Properties with a time limit, and a function that restores the original values. */
interface Limited {
  readonly properties: Properties;
  /** Returns outputs that contain the program's own values of the time limits. */
  readonly restore: (outputs: Properties) => Properties;
}

/**
 * Overrides the inputs that limit an operation's duration with the `customTimeouts` option. State
 * keeps the program's values.
 * @param seconds 0 if the option is not set
 */
export function withTimeout(names: readonly string[] = [], properties: Properties, seconds: number): Limited {
  if (seconds <= 0 || names.length === 0) return { properties, restore: (outputs) => outputs };
  const own = pick(properties, (name) => names.includes(name));
  return {
    properties: { ...properties, ...Object.fromEntries(names.map((name) => [name, Math.ceil(seconds)])) },
    restore: (outputs) => ({ ...pick(outputs, (name) => !names.includes(name)), ...own }),
  };
}
