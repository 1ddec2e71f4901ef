import type * as pulumi from "@pulumi/pulumi";
import { type Properties, pick, UNKNOWN } from "../../provider/properties";
import type { Situation } from "../../provider/records/recordKind";
import type { ResourceType } from "../../provider/resourceTypes";
import { splitList } from "../../sdk/endpoints/normalForms";
import { type FieldTable, listFields } from "../../sdk/records/fields";
import type { PreviewAdoption } from "./adoption";

/** Converted inputs, and problems with those that cannot be converted. */
export interface Prepared {
  readonly inputs: Properties;
  readonly failures: readonly pulumi.dynamic.CheckFailure[];
}

/** A kind of resource, as the plugin serves it with the handlers of the dynamic form. */
export interface PluginResource {
  /** The dynamic form of the resource. */
  readonly dynamic: ResourceType;
  readonly handlers: pulumi.dynamic.ResourceProvider;
  /** The fields that the service has. Empty if the resource is not a record of the service. */
  readonly table: FieldTable;
  /**
   * `true` if names are unique at the service: see `RecordKind`. Absent if the resource has no
   * name.
   */
  readonly hasUniqueNames?: boolean;
  /** Converts the inputs that do not exist at the service. */
  readonly prepare?: (inputs: Properties) => Prepared;
  /** Returns the names of the inputs that are secret in every program. */
  readonly secretInputs?: (inputs: Properties) => readonly string[];
  /** Returns `true` for a secret input whose name the handlers must know. @default always */
  readonly namesSecret?: (name: string) => boolean;
  /**
   * Logs what an adoption changes.
   * @throws Error if the record does not exist, or must not be adopted
   */
  readonly previewAdoption?: PreviewAdoption;
  /** Returns the warnings about inputs that are new or changed. */
  readonly warnings?: (inputs: Properties, secrets: readonly string[]) => readonly string[];
  /** Returns lines of information about inputs that are new or changed. */
  readonly notes?: (inputs: Properties) => readonly string[];
  /** The inputs that limit the time of an operation, which the option `customTimeouts` replaces. */
  readonly timeouts: Readonly<Partial<Record<"create" | "update" | "delete", readonly string[]>>>;
  /**
   * Returns the outputs that an update may change, in addition to the inputs. In a preview they are
   * unknown to whatever uses them, so that a saved plan expects the change.
   */
  readonly changedOutputs?: (situation: Situation) => readonly string[];
  /**
   * Returns the inputs of an import that a program needs.
   * @default those that are not at their default
   */
  readonly importedInputs?: (inputs: Properties) => Properties;
  /** Why the resource cannot be imported or read by its id. @default it can */
  readonly cannotBeImported?: string;
}

/**
 * Returns properties as programs of every language see them: lists instead of comma-separated
 * strings, and no properties that only the dynamic form has.
 */
export function toPublic({ table }: PluginResource, properties: Properties): Properties {
  const { __provider, ...others } = properties;
  return withLists(table, others);
}

/** Returns properties with lists instead of comma-separated strings. */
export function withLists(table: FieldTable, properties: Properties): Properties {
  const lists = listFields(table).flatMap((field) => {
    const value = properties[field];
    return typeof value === "string" && value !== UNKNOWN ? [[field, splitList(value)] as const] : [];
  });
  return { ...properties, ...Object.fromEntries(lists) };
}

/** Returns the outputs that programs see. */
export function publicOutputs(resource: PluginResource, properties: Properties): Properties {
  return pick(toPublic(resource, properties), (name) => resource.dynamic.outputs.includes(name));
}
