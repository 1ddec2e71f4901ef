import type { FaultRule } from "../../emulator";
import type { Duration } from "../../emulator/forecast/load";
import type { PlayFlags } from "../forecast/forecastFlags";
import type { StackFlag } from "../stack";
import type { Allowed } from "./allow";

/** The options of `serverless-gpu check`. */
export interface CheckFlags extends PlayFlags {
  /** The stack to preview or to copy; `true` for the selected stack. */
  readonly stack?: StackFlag;
  readonly allow?: readonly Allowed[];
  readonly maxPerHour?: number;
  readonly maxAtRest?: number;
  readonly strict?: boolean;
  /** `true` if the change is applied to a copy. A load implies it. */
  readonly rehearse?: boolean;
  /** `true` if the copy starts without the stack's state. */
  readonly creation?: boolean;
  readonly fromState?: boolean;
  readonly withSecrets?: boolean;
  /** Names of environment variables to pass to the program. */
  readonly env?: readonly string[];
  readonly fault?: readonly FaultRule[];
  /** A file of jobs, or the folder of a recording, to play. */
  readonly load?: string;
  readonly endpoint?: string;
  readonly for?: number;
  readonly duration?: Duration;
  readonly json?: boolean;
  readonly markdown?: boolean;
  /** The page to write in addition. */
  readonly html?: string;
}

/** Returns `true` if the change is applied to a copy of the stack. */
export const isRehearsal = ({ rehearse, load }: CheckFlags) => rehearse === true || load !== undefined;
