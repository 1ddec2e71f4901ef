import { aFunction, anObject, msFrom, type OptionChecks, positiveMs, REQUEST_OPTIONS } from "../transport/callOptions";
import type { FindOptions, KnownOptions, ListOptions, SaveOptions, UpdateRecordOptions } from "./collection";
import type { CreateRecordOptions } from "./createRecord";
import type { DeleteUnusedOptions } from "./deleteUnused";

export const KNOWN_OPTIONS: OptionChecks<KnownOptions> = { ...REQUEST_OPTIONS, known: anObject };

export const LIST_OPTIONS: OptionChecks<ListOptions> = { ...REQUEST_OPTIONS, maxAgeMs: msFrom(0) };

export const FIND_OPTIONS: OptionChecks<FindOptions> = {
  ...KNOWN_OPTIONS,
  maxAgeMs: msFrom(0),
  onMissing: aFunction,
};

export const SAVE_OPTIONS: OptionChecks<SaveOptions<unknown>> = { ...KNOWN_OPTIONS, onSave: aFunction };

export const UPDATE_OPTIONS: OptionChecks<UpdateRecordOptions<unknown>> = {
  ...SAVE_OPTIONS,
  onNameTaken: aFunction,
};

export const CREATE_OPTIONS: OptionChecks<CreateRecordOptions<unknown>> = {
  ...REQUEST_OPTIONS,
  onNameTaken: aFunction,
  onDuplicates: aFunction,
};

export const DELETE_OPTIONS: OptionChecks<DeleteUnusedOptions> = {
  ...REQUEST_OPTIONS,
  releaseTimeoutMs: positiveMs,
  onWait: aFunction,
  onDelete: aFunction,
  onAbsent: aFunction,
  known: anObject,
};
