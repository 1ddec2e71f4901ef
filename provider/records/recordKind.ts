import type { Capabilities } from "../../sdk/contract/capabilities";
import type { NamedRecord } from "../../sdk/records/listed";
import type { PreviewedKind } from "../adoption/description";
import type { ReadConfig } from "../connection/config";
import type { Connection } from "../connection/connection";
import type { InputKind } from "../fields/recordInputs";
import type { Properties } from "../properties";

/**
 * A field that an update sets although the inputs have not changed, for example to finish what a
 * killed run began.
 */
export interface Leftover {
  readonly field: string;
  /** The sentence that describes the change in the log. */
  readonly text: string;
}

/** The starting point of an update or an adoption. */
export interface Situation {
  readonly id: string;
  /** The outputs of the last run. For an adoption, the fields of the record instead. */
  readonly outputs: Properties;
  readonly inputs: Properties;
}

/** A change that gives a record the fields that the program manages. */
export interface RecordChange<Fields> extends Situation {
  readonly fields: Partial<Fields>;
  /**
   * Set if state does not reliably describe the record, because the record is being adopted or the
   * outcome of a write is unknown. In that case, every field that RunPod does not show is written
   * again, because its value may be wrong.
   */
  readonly unsure: Pick<Unsure<object>, "sent" | "changed"> | undefined;
}

/** An earlier run's write whose outcome is unknown, compared with the program. */
export interface Unsure<T> {
  /** The record as it is now. */
  readonly record: T;
  /** The record's fields as RunPod shows them. */
  readonly shown: Properties;
  /** The outputs in state, overwritten with the fields in `shown`. */
  readonly outputs: Properties;
  /** The fields that differ from the program, plus those that RunPod does not show. */
  readonly changed: readonly string[];
  /** The fields that the unfinished write set. */
  readonly sent: Properties;
  /** The previous values of the fields that the earlier run set but the program does not set. */
  readonly restored: Properties;
}

/**
 * Judges a change after it was saved. The function receives the outputs and, if the record was
 * read, the record. It returns additional outputs.
 * @throws Error if the change has failed
 */
export type JudgeChange = (outs: Properties, record: object | undefined) => Promise<Properties>;

/** A save that is about to be sent, for a create, an update, an adoption or a takeover. */
export interface Save<T> extends Situation {
  readonly purpose: "create" | "update" | "adopt" | "take over";
  readonly name: unknown;
  /** The fields that differ. */
  readonly changed: readonly string[];
  /** `false` if nothing will be saved unless the preparation adds a field. */
  readonly isSaved: boolean;
  /** The record that is being adopted or taken over. */
  readonly adoptee?: T;
}

/** Additional information that a particular kind of record provides for a save. */
export interface Preparation<Fields> {
  /** The fields to save in addition to the program's fields. */
  readonly fields?: Partial<Fields>;
  /** Judges an adoption after it was saved. */
  readonly judge?: JudgeChange | undefined;
  /** Called if RunPod rejected the save, which means that nothing has changed. */
  readonly onRejected?: () => void;
}

/** The values that determine the outputs, in addition to the record and the inputs. */
export interface Circumstances {
  readonly connection: Connection;
  readonly owner: string;
  /** The outputs of the last run. */
  readonly before: Properties;
  /** The fields that were saved or that were found to have changed. */
  readonly changed: readonly string[];
  /** The last write to the record; empty if the record has not been written since its creation. */
  readonly write: string;
}

/**
 * The rules of one kind of resource, for the handlers that all kinds share. `Fields` is the type of
 * the settings of a new record.
 */
export interface RecordKind<T extends NamedRecord, Fields extends object> extends InputKind, PreviewedKind<T> {
  /**
   * `true` if a record is renamed to its automatic name when the program removes `name`.
   * @default the record keeps its name
   */
  readonly savesAutomaticName?: true;
  /**
   * The names of internal outputs that keep their value when an update does not read the record.
   * @default none
   */
  readonly lastingOutputs?: readonly string[];
  /** Creates a record, unless a record with this name already exists. */
  readonly create: (connection: Connection, fields: Fields, names: Naming<T>, inputs: Properties) => Promise<T>;
  /** Changes the given fields of a record. */
  readonly update: (connection: Connection, change: RecordChange<Fields>) => Promise<T>;
  /** Deletes a record. Calls `onAbsent` if the record is already gone. */
  readonly delete: (connection: Connection, id: string, outputs: Properties, onAbsent: () => void) => Promise<void>;

  /** Returns warnings about inputs that are accepted but may be a mistake. */
  readonly notices?: (
    oldInputs: Properties,
    inputs: Properties,
    settings: { readonly capabilities: Capabilities | undefined; readonly readConfig: ReadConfig },
  ) => string[];
  /**
   * Returns the field that an update sets although the inputs have not changed, or `undefined` if
   * there is none. Makes no request.
   */
  readonly leftover?: (service: string, situation: Situation) => Leftover | undefined;
  /** Called before a record is read for an adoption. There are no outputs at that point. */
  readonly beforeAdoption?: (connection: Connection, situation: Situation) => Promise<void>;
  /**
   * Prepares a save.
   * @throws Error if the save is refused; nothing was saved
   */
  readonly beforeSave?: (connection: Connection, save: Save<T>) => Promise<Preparation<Fields>>;
  /** Returns outputs that only a refresh sets. Also logs facts that state does not show. */
  readonly refreshedOutputs?: (service: string, record: T, situation: Situation) => Properties;
  /** Returns the outputs that are not fields. */
  readonly furtherOutputs?: (record: T, circumstances: Circumstances) => Properties;
}

/** How a create handles existing records with its name. */
export interface Naming<T> {
  /** @throws NameTakenError unless it returns an existing record to use instead of a new one */
  readonly onNameTaken: (existing: readonly T[]) => T;
  /**
   * Changes a record that an interrupted run created for this resource, so that the record matches
   * the program.
   * @throws NameTakenError if that is not possible
   */
  readonly takeOver: (record: T) => Promise<T>;
}
