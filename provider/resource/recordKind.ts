import type { Client } from "../../sdk/client";
import type { Capabilities } from "../../sdk/contract/capabilities";
import type { InputProblem } from "../../sdk/errors";
import type { DeleteUnusedOptions } from "../../sdk/records/deleteUnused";
import type { FieldTable } from "../../sdk/records/fields";
import type { NamedRecord } from "../../sdk/records/listed";
import type { Readers } from "../../sdk/records/readers";
import type { Connection } from "../connection/connection";
import type { Properties } from "../properties";
import type { OwnRules } from "./ownInputs";

/** The client's functions for one kind of record. */
export interface ManagedRecords<T> extends Readers<T> {
  delete(id: string, options: DeleteUnusedOptions): Promise<void>;
}

/** Fields that a management interface cannot change, and messages with advice. */
export interface Unchangeable {
  readonly fields: readonly string[];
  /** The message if the name is to stay, although names are unique: another record needs another one. */
  readonly sameName: string;
  /** The reason why a record cannot be adopted. */
  readonly adoption: string;
}

/** What the service has and the program does not declare, such as the rest of a killed run. */
export interface Leftovers {
  /** The field that holds them. */
  readonly field: string;
  /** What an update does about them, for the log. */
  readonly text: string;
}

/** The rules of one kind of resource, for the handlers that all kinds share. */
export interface RecordKind<T extends NamedRecord> {
  /** One of its records in messages, such as `a template`. */
  readonly one: string;
  /** The same without the article. */
  readonly noun: string;
  readonly table: FieldTable;
  /** `true` if names are unique at the service: automatic ones are then drawn when a record is created. */
  readonly hasUniqueNames: boolean;
  /** Returns the end of an automatic name. A replacement that is made beside the old record needs another name. */
  readonly nameSuffix?: (inputs: Properties) => string;
  /** The fields whose change needs another record. The new one is created before the old one is deleted. */
  readonly fixedFields: readonly string[];
  /** The further fields that the management interface cannot change, if there are any. */
  readonly unchangeable?: (capabilities: Capabilities) => Unchangeable | undefined;
  /** The fields that the service never shows. An adoption always sets them. */
  readonly hiddenFields?: readonly string[];
  /** Returns each valid field in normal form, and the problems of the others. */
  readonly checkFields: (input: Properties) => { fields: Properties; problems: InputProblem[] };
  /** Returns the problems of a change. */
  readonly problemsOfChange?: (oldInputs: Properties, inputs: Properties) => InputProblem[];
  /** Returns the reason why a record must not be adopted, if there is one. */
  readonly refusesAdoption?: (record: T, inputs: Properties) => string | undefined;
  /** Returns a warning about a replacement that `fields` cause. */
  readonly warnOfReplacement?: (id: string, outputs: Properties) => string;
  readonly records: (client: Client) => ManagedRecords<T>;
  /** Creates a record, unless one has its name. */
  readonly create: (client: Client, fields: Properties, onNameTaken: (existing: readonly T[]) => T) => Promise<T>;
  /** The rules of the inputs that only this kind has, and that are no fields of the service. */
  readonly ownRules?: OwnRules;
  /** Changes a record to these fields. `outputs` are those of the last run. */
  readonly update: (
    connection: Connection,
    id: string,
    fields: Properties,
    outputs: Properties,
    inputs: Properties,
  ) => Promise<T>;
  /** Returns what an update changes although no field of the inputs differs, if there is anything. Makes no request. */
  readonly leftovers?: (service: string, id: string, outputs: Properties, inputs: Properties) => Leftovers | undefined;
  /** Returns the outputs that only a refresh has. Logs what state does not show. `outputs` are those of the last run. */
  readonly refreshedOutputs?: (service: string, record: T, outputs: Properties) => Properties;
  /** Returns the fields of a record as state holds them. `known` are the inputs, or the outputs of the last run. */
  readonly toFields: (record: T, known: Properties) => Properties;
  /** Returns the outputs that are not fields. `changed` are the fields that were saved. */
  readonly furtherOutputs?: (record: T, before: Properties, changed: readonly string[]) => Properties;
}
