import { InvalidArgumentError } from "commander";
import { instantOf } from "../sdk/endpoints/instant";

/** Parses a date, or a time with `Z` or an offset, into milliseconds since the Unix epoch. */
export function parseInstant(text: string): number {
  const at = instantOf(text);
  if (Number.isNaN(at)) throw new InvalidArgumentError("It must be a time, such as 2026-12-01T08:00+01:00.");
  return at;
}
