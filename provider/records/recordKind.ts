import type { Capabilities, CapabilityName } from "../../sdk/contract/capabilities";
import type { NamedRecord } from "../../sdk/records/listed";
import type { PreviewedKind } from "../adoption/description";
import type { ReadConfig } from "../connection/config";
import type { Connection } from "../connection/connection";
import type { Properties } from "../engine/properties";
import type { InputKind } from "../fields/recordInputs";
import type { Note } from "../machine/note";

/** The starting point of an update or an adoption. */
export interface Situation {
  readonly id: string;
  /** The outputs of the last run, which the preview compared. Empty for an adoption. */
  readonly outputs: Properties;
  readonly inputs: Properties;
}

/** A change of a record. */
interface RecordChange<T, Fields> extends Situation {
  /** The fields to change. In `env`, `null` removes a variable, and other variables stay. */
  readonly fields: Partial<Fields>;
  /** The fields of the record as they were last known. */
  readonly known: Properties;
  /** Must be called with the record as it was read, right before the change is sent. */
  readonly onSave: (before: T) => void;
}

/** A write that is about to be sent. */
export interface Save<T> extends Situation {
  readonly purpose: "create" | "update" | "adopt";
  readonly name: unknown;
  /** The settings to write, with each variable as a separate setting. */
  readonly settings: Properties;
  /** The record as it was read, if it was. */
  readonly theirs?: T | undefined;
  /** An earlier write whose outcome is not known, for example because its run was killed. */
  readonly open?: Note | undefined;
}

/** The values that determine the outputs, in addition to the record and the inputs. */
export interface Circumstances {
  readonly connection: Connection;
  readonly owner: string;
  /** The outputs of the last run. */
  readonly before: Properties;
  /** The settings that were written. Undefined if the outputs take all fields from the record. */
  readonly settings: Properties | undefined;
  /**
   * The fields that this run or an unfinished write changed, or that a refresh found changed.
   */
  readonly changed: readonly string[];
  /** The token of the last write to the record; empty if there was none since its creation. */
  readonly write: string;
}

/**
 * The rules of one kind of resource, for the handlers that all kinds share. `Fields` is the type of
 * the settings of a new record.
 */
export interface RecordKind<T extends NamedRecord, Fields extends object> extends InputKind, PreviewedKind<T> {
  /**
   * The capability without which an API cannot manage this kind. Over an API that lacks it, `check`
   * refuses every resource of this kind.
   * @default none: every API can manage it
   */
  readonly needs?: CapabilityName;
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
  /**
   * Why a record is never replaced because a fixed field has changed, and what to do instead.
   * @default a changed program replaces the record
   */
  readonly neverReplaced?: (outputs: Properties) => string;
  /** Creates a record, unless a record with this name already exists. */
  readonly create: (
    connection: Connection,
    fields: Fields,
    onNameTaken: (existing: readonly T[]) => T,
    inputs: Properties,
  ) => Promise<T>;
  /** Changes the given fields of a record. */
  readonly update: (connection: Pick<Connection, "client">, change: RecordChange<T, Fields>) => Promise<T>;
  /** Deletes a record. Calls `onAbsent`, before anything is sent, if the record is already gone. */
  readonly delete: (connection: Connection, id: string, outputs: Properties, onAbsent: () => void) => Promise<void>;

  /** Returns warnings about inputs that are accepted but may be a mistake. */
  readonly notices?: (
    oldInputs: Properties,
    inputs: Properties,
    settings: { readonly capabilities: Capabilities | undefined; readonly readConfig: ReadConfig },
  ) => string[];
  /**
   * Returns a field that an update writes although the inputs do not show a change, and the
   * sentence that says so in the preview. Makes no request.
   */
  readonly alsoWrites?: (situation: Situation) => { readonly field: string; readonly text: string } | undefined;
  /**
   * Prepares a write. Returns settings to write in addition to the program's.
   * @throws Error if the write is refused; nothing was sent
   */
  readonly beforeSave?: (connection: Connection, save: Save<T>) => Promise<Properties>;
  /** Returns outputs that only a refresh sets. Also logs facts that state does not show. */
  readonly refreshedOutputs?: (record: T, situation: Situation) => Properties;
  /** Returns the outputs that are not fields. */
  readonly furtherOutputs?: (record: T, circumstances: Circumstances) => Properties;
}
