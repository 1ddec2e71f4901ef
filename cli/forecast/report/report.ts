import type { Load } from "../../../emulator/forecast/load";
import type { ShownAssumption } from "../settings/assumptions";
import type { Summary } from "./summary";

/** The results of a forecast. */
export interface Report {
  readonly load: Load & { readonly description: string };
  /** The settings of the stack, of the program or of the options; the last one is the newest. */
  readonly results: readonly { readonly title: string; readonly summary: Summary }[];
  readonly sweep: { readonly all: readonly Summary[]; readonly front: readonly Summary[] } | undefined;
  readonly assumptions: readonly ShownAssumption[];
  /** The limits that can be exceeded, as sentences. */
  readonly exceeded: readonly string[];
}
