import { KNOWN_OPTIONS } from "../records/callOptions";
import {
  aBoolean,
  aFunction,
  anObject,
  type OptionChecks,
  positiveMs,
  REQUEST_OPTIONS,
} from "../transport/callOptions";
import type { DeleteOptions } from "./deleteEndpoint";
import type { RecycleOptions } from "./recycleWorkers";

export const DELETE_OPTIONS: OptionChecks<DeleteOptions> = {
  ...REQUEST_OPTIONS,
  drain: aBoolean,
  drainTimeoutMs: positiveMs,
  onProgress: aFunction,
  onAbsent: aFunction,
  onScaleDown: aFunction,
  onPutBack: aFunction,
  workers: anObject,
};

export const RECYCLE_OPTIONS: OptionChecks<RecycleOptions> = {
  ...KNOWN_OPTIONS,
  drainTimeoutMs: positiveMs,
  onProgress: aFunction,
  onScaleDown: aFunction,
  onPutBack: aFunction,
};
