import type { Load } from "../../../emulator/forecast/load";
import type { ShownAssumption } from "../settings/assumptions";
import type { Calibration } from "./calibration";
import type { Limits } from "./choose";
import type { During } from "./during";
import type { Summary } from "./summary";

/**
 * The settings of a sweep, those that no other setting beats, and the limits for the suggestion.
 */
export interface Sweep extends Limits {
  readonly all: readonly Summary[];
  readonly front: readonly Summary[];
}

/** The results of a forecast. */
export interface Report {
  readonly load: Load & { readonly description: string };
  /** One result per stack, program, or set of options. The newest is the last one. */
  readonly results: readonly { readonly title: string; readonly summary: Summary }[];
  readonly sweep: Sweep | undefined;
  /** When the first job arrives if a schedule depends on it, and the schedule's time zone. */
  readonly dated?: { readonly real: number; readonly timeZone: string } | undefined;
  /** The settings without the schedule; `undefined` if there is none, or a change is simulated. */
  readonly without?: Summary | undefined;
  /** The change at the busiest hour; `undefined` if only one setting is simulated. */
  readonly during?: During | undefined;
  /** The first setting's forecast, compared with the measurements. */
  readonly calibration: Calibration;
  readonly assumptions: readonly ShownAssumption[];
  /** Warnings, which the reader must see before the numbers. */
  readonly warnings: readonly string[];
  /** Sentences about limits that may be exceeded. */
  readonly exceeded: readonly string[];
}
