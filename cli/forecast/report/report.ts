import type { Load } from "../../../emulator/forecast/load";
import type { ShownAssumption } from "../settings/assumptions";
import type { Limits } from "./choose";
import type { Summary } from "./summary";

/** The settings of a sweep, those that no other one beats, and the limits of its suggestion. */
export interface Sweep extends Limits {
  readonly all: readonly Summary[];
  readonly front: readonly Summary[];
}

/** The results of a forecast. */
export interface Report {
  readonly load: Load & { readonly description: string };
  /** The settings of the stack, of the program or of the options; the last one is the newest. */
  readonly results: readonly { readonly title: string; readonly summary: Summary }[];
  readonly sweep: Sweep | undefined;
  readonly assumptions: readonly ShownAssumption[];
  /** What a reader must know before the numbers, as sentences. */
  readonly warnings: readonly string[];
  /** The limits that can be exceeded, as sentences. */
  readonly exceeded: readonly string[];
}
