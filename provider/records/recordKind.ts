import type { Capabilities } from "../../sdk/contract/capabilities";
import type { InputProblem } from "../../sdk/errors";
import type { NamedRecord } from "../../sdk/records/listed";
import type { PreviewedKind } from "../adoption/description";
import type { CheckedWrite } from "../catalog/catalogCheck";
import type { ReadConfig } from "../connection/config";
import type { Connection } from "../connection/connection";
import type { ProviderClient } from "../connection/providerClient";
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
export interface Change<Fields> extends Situation {
  readonly fields: Partial<Fields>;
  /**
   * `true` if state does not tell what the record has: it is adopted, or the end of a write was not
   * seen. Then whatever the service does not show is written again.
   */
  readonly isUnsure: boolean;
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
  /** The fields that the program leaves out and the earlier run has set, as they were before. */
  readonly restored: Properties;
}

/**
 * Judges a change after its save. Called with the outputs and the record, if it was read; returns
 * further outputs.
 * @throws Error if the change has failed
 */
export type JudgeChange = (outs: Properties, record: object | undefined) => Promise<Properties>;

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
   * `true` if a replacement must delete the old record before it creates the new one: otherwise it
   * would find the old one by its name.
   */
  readonly deletesBeforeReplace?: true;
  /** Returns the problems of inputs that the management interface does not accept. */
  readonly interfaceProblems?: (
    oldInputs: Properties,
    inputs: Properties,
    capabilities: Capabilities,
  ) => InputProblem[];
  /** Returns warnings about inputs that are accepted. */
  readonly notices?: (
    oldInputs: Properties,
    inputs: Properties,
    settings: { readonly capabilities: Capabilities | undefined; readonly readConfig: ReadConfig },
  ) => string[];
  /** Returns a warning about a replacement that `fields` cause. */
  readonly warnOfReplacement?: (id: string, outputs: Properties) => string;
  /** Verifies that the record can move to another account. @throws MOVE_REFUSED if it cannot */
  readonly checkNewAccount?: (situation: Situation) => Promise<void>;
  /**
   * Refuses what the service's catalog proves impossible, before a write.
   * @throws InvalidInputError
   */
  readonly checkCatalog?: (connection: Connection, write: CheckedWrite) => Promise<void>;
  /** Creates a record, unless one has its name. */
  readonly create: (
    connection: Connection,
    fields: Fields,
    onNameTaken: (existing: readonly T[]) => T,
    inputs: Properties,
  ) => Promise<T>;
  /**
   * Returns the only record with the name if an interrupted run of this machine has created it, as
   * far as that can be proven.
   * @default a name proves nothing
   */
  readonly ownLeftover?: (connection: Connection, existing: readonly T[], inputs: Properties) => T | undefined;
  /** Changes a record to these fields. */
  readonly update: (connection: Connection, change: Change<Fields>) => Promise<T>;
  /** Deletes a record. Calls `onAbsent` if it is gone. */
  readonly delete: (connection: Connection, id: string, outputs: Properties, onAbsent: () => void) => Promise<void>;
  /**
   * Returns the field that an update sets although no field of the inputs differs, if there is one.
   * Makes no request.
   */
  readonly leftover?: (service: string, situation: Situation) => Leftover | undefined;
  /**
   * Returns `true` if an update has to finish what an earlier run left unfinished. Logs what it
   * will do. Makes no request.
   */
  readonly isUnfinished?: (situation: Situation) => boolean;
  /**
   * Returns what a save after an unfinished write must take for the record's fields, although the
   * service does not show it. `sent` is what that write set.
   * @default nothing
   */
  readonly afterUnfinished?: (sent: Properties, inputs: Properties, changed: readonly string[]) => Properties;
  /**
   * Returns the fields that a save needs in addition to the program's. `adoptee` is the record
   * being adopted.
   */
  readonly repairs?: (
    connection: Connection,
    situation: Situation,
    isSaved: boolean,
    adoptee?: T,
  ) => Promise<Partial<Fields>>;
  /**
   * Ends what an earlier adoption on this machine has left in the record, before it is read. There
   * are no outputs.
   */
  readonly settleEarlierAdoption?: (connection: Connection, situation: Situation) => Promise<void>;
  /** Called if the service has rejected the save of an adoption, so that it has changed nothing. */
  readonly forgetAdoption?: (connection: Connection, id: string) => void;
  /**
   * Prepares an update, or an adoption, before its save. Returns what judges it after the save.
   * @throws Error if it is refused
   */
  readonly beginRelease?: (
    connection: Connection,
    situation: Situation,
    isAdoption: boolean,
  ) => Promise<JudgeChange | undefined>;
  /**
   * Puts into effect what an update has changed elsewhere. Returns the record if it was changed.
   */
  readonly rollOut?: (client: ProviderClient, situation: Situation) => Promise<T | undefined>;
  /**
   * Waits for what the program asks to wait for. `record` is absent if it was not read. Called with
   * the outputs of this run.
   */
  readonly settle?: (client: ProviderClient, situation: Situation, record: T | undefined) => Promise<void>;
  /**
   * Returns the fields that an interrupted run has changed and the next update restores, with the
   * values to restore. A refresh does not mistake them for inputs of the program.
   */
  readonly unfinishedFields?: (id: string, outputs: Properties, record: T) => Partial<Fields>;
  /** Returns the outputs that only a refresh has. Logs what state does not show. */
  readonly refreshedOutputs?: (service: string, record: T, situation: Situation) => Properties;
  /** The fields whose outputs are absent while they are unset. @default none */
  readonly rareFields?: readonly string[];
  /** Returns the outputs that are not fields. */
  readonly furtherOutputs?: (record: T, circumstances: Circumstances) => Properties;
  /**
   * Names of internal outputs that keep their value when an update does not read the record.
   * @default none
   */
  readonly lastingOutputs?: readonly string[];
}
