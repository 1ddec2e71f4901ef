import type { Capabilities } from "../../sdk/contract/capabilities";
import type { NamedRecord } from "../../sdk/records/listed";
import type { PreviewedKind } from "../adoption/description";
import type { ReadConfig } from "../connection/config";
import type { Connection } from "../connection/connection";
import type { InputKind } from "../fields/recordInputs";
import type { Properties } from "../properties";

/**
 * A field that an update sets although the inputs do not change it, for example to finish what a
 * killed run began.
 */
export interface Leftover {
  readonly field: string;
  /** What is done, for the log. */
  readonly text: string;
}

/** The starting point of an update or an adoption. */
export interface Situation {
  readonly id: string;
  /** The outputs of the last run. An adoption has the fields of the record instead. */
  readonly outputs: Properties;
  readonly inputs: Properties;
}

/** A change of a record to the fields that the program manages. */
export interface RecordChange<Fields> extends Situation {
  readonly fields: Partial<Fields>;
  /**
   * Set if state does not tell what the record has: it is adopted, or the end of a write was not
   * seen. Then whatever the service does not show is written again.
   */
  readonly unsure: Pick<Unsure<object>, "sent" | "changed"> | undefined;
}

/** A write of an earlier run whose end nobody saw, compared with the program. */
export interface Unsure<T> {
  /** The record as it is now. */
  readonly record: T;
  /** Its fields as the service shows them. */
  readonly shown: Properties;
  /** The outputs in state, with these fields in place of its own. */
  readonly outputs: Properties;
  /** The fields that differ from the program, and those that the service does not show. */
  readonly changed: readonly string[];
  /** The fields that the unfinished write has set. */
  readonly sent: Properties;
  /** The fields that the program leaves out and the earlier run has set, as they were before. */
  readonly restored: Properties;
}

/**
 * Judges a change after its save. Called with the outputs and the record, if it was read; returns
 * further outputs.
 * @throws Error if the change has failed
 */
export type JudgeChange = (outs: Properties, record: object | undefined) => Promise<Properties>;

/** A save that is about to be sent: a create, an update or an adoption. */
export interface Save<T> extends Situation {
  readonly purpose: "create" | "update" | "adopt" | "take over";
  readonly name: unknown;
  /** The fields that differ. */
  readonly changed: readonly string[];
  /** `false` if nothing is saved unless the preparation adds a field. */
  readonly isSaved: boolean;
  /** The record that is adopted or taken over. */
  readonly adoptee?: T;
}

/** What the save of one kind needs in addition. */
export interface Preparation<Fields> {
  /** Fields to save in addition to the program's. */
  readonly fields?: Partial<Fields>;
  /** Judges an adoption after its save. */
  readonly judge?: JudgeChange | undefined;
  /** Called if the service has rejected the save, so that it has changed nothing. */
  readonly onRejected?: () => void;
}

/** What the outputs depend on in addition to the record and the inputs. */
export interface Circumstances {
  readonly connection: Connection;
  readonly owner: string;
  /** The outputs of the last run. */
  readonly before: Properties;
  /** The fields that were saved, or found changed. */
  readonly changed: readonly string[];
  /** The last write to the record; empty if there was none since its creation. */
  readonly write: string;
}

/**
 * The rules of one kind of resource, for the handlers that all kinds share. `Fields` are the
 * settings of a new record.
 */
export interface RecordKind<T extends NamedRecord, Fields extends object> extends InputKind, PreviewedKind<T> {
  /**
   * `true` if a record gets its automatic name when the program removes `name`.
   * @default it keeps its name
   */
  readonly savesAutomaticName?: true;
  /**
   * Names of internal outputs that keep their value when an update does not read the record.
   * @default none
   */
  readonly lastingOutputs?: readonly string[];
  /** Creates a record, unless one has its name. */
  readonly create: (connection: Connection, fields: Fields, names: Naming<T>, inputs: Properties) => Promise<T>;
  /** Changes a record to these fields. */
  readonly update: (connection: Connection, change: RecordChange<Fields>) => Promise<T>;
  /** Deletes a record. Calls `onAbsent` if it is gone. */
  readonly delete: (connection: Connection, id: string, outputs: Properties, onAbsent: () => void) => Promise<void>;

  /** Returns warnings about inputs that are accepted. */
  readonly notices?: (
    oldInputs: Properties,
    inputs: Properties,
    settings: { readonly capabilities: Capabilities | undefined; readonly readConfig: ReadConfig },
  ) => string[];
  /**
   * Returns the field that an update sets although no field of the inputs differs, if there is one.
   * Makes no request.
   */
  readonly leftover?: (service: string, situation: Situation) => Leftover | undefined;
  /** Called before a record is read to be adopted. There are no outputs. */
  readonly beforeAdoption?: (connection: Connection, situation: Situation) => Promise<void>;
  /**
   * Prepares a save.
   * @throws Error if it is refused; nothing was saved
   */
  readonly beforeSave?: (connection: Connection, save: Save<T>) => Promise<Preparation<Fields>>;
  /** Returns the outputs that only a refresh has. Logs what state does not show. */
  readonly refreshedOutputs?: (service: string, record: T, situation: Situation) => Properties;
  /** Returns the outputs that are not fields. */
  readonly furtherOutputs?: (record: T, circumstances: Circumstances) => Properties;
}

/** What a create does if records have its name. */
export interface Naming<T> {
  /** @throws NameTakenError, or returns the record that takes the place of a new one */
  readonly onNameTaken: (existing: readonly T[]) => T;
  /**
   * Makes a record that an interrupted run of this resource has created match the program.
   * @throws NameTakenError if it cannot
   */
  readonly takeOver: (record: T) => Promise<T>;
}
