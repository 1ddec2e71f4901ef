import { isDeepStrictEqual } from "node:util";
import { type Properties, pick } from "../../provider/engine/properties";

/** Returns the inputs of an import that differ from their default, which the program must set. */
export function withoutDefaults(defaults: Readonly<Record<string, unknown>>, inputs: Properties): Properties {
  return pick(inputs, (name) => !isDeepStrictEqual(inputs[name], defaults[name]));
}
