import type { z } from "zod";
import { validate } from "../io/validate";
import type { StoredRecords } from "./records";

/**
 * Reads and changes the records of one kind directly, as the service itself or another user would.
 * The journal does not record these changes.
 */
export interface RecordControl<Seed, Fields, View> {
  /** Returns all records, in order of creation. */
  list(): View[];
  /** Returns a record, or `undefined` if it does not exist. */
  get(id: string): View | undefined;
  /**
   * Creates a record with the service's defaults.
   * @throws TypeError if a field is missing, unknown or of the wrong type
   * @throws Error if the record violates a rule of the service
   * @throws RangeError if the id exists
   */
  create(seed: Seed): View;
  /**
   * Sets fields to any values, without checking the service's rules.
   * @throws TypeError if a field is unknown or of the wrong type
   * @throws Error if the record does not exist
   */
  change(id: string, patch: Partial<Fields>): View;
  /** Deletes a record immediately, even if it is in use. Returns `false` if it does not exist. */
  delete(id: string): boolean;
}

/**
 * A kind of record. To add one, create a folder that returns a `Kind`, and add a line to
 * `server/kinds.ts`. Seeds, the data file and the control API are derived from it.
 */
export interface Kind<Seed, Fields, View> {
  /** What messages call a record of this kind, such as `template`. */
  readonly noun: string;
  readonly seedSchema: z.ZodType<Seed>;
  readonly patchSchema: z.ZodType<Partial<Fields>>;
  /** The schema of a record in a data file. */
  readonly snapshotSchema: z.ZodType;
  readonly control: RecordControl<Seed, Fields, View>;
  /** Returns the state to save for a restart as plain JSON. */
  snapshot(): unknown[];
  restore(saved: readonly unknown[]): void;
  /** Stops and deletes all records. */
  clear(): void;
}

/**
 * Returns a kind whose records are stored.
 * @param view returns a copy of the part of a record that others may see
 */
export function recordKind<R extends object, Seed, Fields, View>(
  stored: StoredRecords<R, Seed, Fields>,
  view: (record: R) => View,
  schemas: Pick<Kind<Seed, Fields, View>, "seedSchema" | "patchSchema" | "snapshotSchema">,
): Kind<Seed, Fields, View> {
  const { noun, snapshot, clear } = stored;
  const restore = (saved: readonly unknown[]) => stored.restore(saved as readonly R[]);
  return { noun, ...schemas, control: controlOf({ noun, ...schemas }, stored, view), snapshot, restore, clear };
}

/** The functions that read and change one kind's stored records. */
interface Stored<Seed, Fields, R> {
  list(): readonly R[];
  find(id: string): R | undefined;
  create(seed: Seed): R;
  change(id: string, patch: Partial<Fields>): R;
  remove(id: string): boolean;
}

/** Returns the control of one kind. `view` returns the public part of a record. */
export function controlOf<Seed, Fields, R extends object, View>(
  { noun, seedSchema, patchSchema }: Pick<Kind<Seed, Fields, View>, "noun" | "seedSchema" | "patchSchema">,
  stored: Stored<Seed, Fields, R>,
  view: (record: R) => View,
): RecordControl<Seed, Fields, View> {
  return {
    list: () => stored.list().map(view),
    get(id) {
      const found = stored.find(id);
      return found && view(found);
    },
    create: (seed) => view(stored.create(validate(seedSchema, seed, `The ${noun}`))),
    change: (id, patch) => view(stored.change(id, validate(patchSchema, patch, "The change"))),
    delete: (id) => stored.remove(id),
  };
}
