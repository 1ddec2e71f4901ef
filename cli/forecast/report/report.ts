import type { Load } from "../../../emulator/forecast/load";
import type { ShownAssumption } from "../settings/assumptions";
import type { Calibration } from "./calibration";
import type { Limits } from "./choose";
import type { During } from "./during";
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
  /** The change at the busiest hour; `undefined` if only one side is played. */
  readonly during?: During | undefined;
  /** The first side, compared with what was measured. */
  readonly calibration: Calibration;
  readonly assumptions: readonly ShownAssumption[];
  /** What a reader must know before the numbers, as sentences. */
  readonly warnings: readonly string[];
  /** The limits that can be exceeded, as sentences. */
  readonly exceeded: readonly string[];
}
