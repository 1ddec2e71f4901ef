import type * as pulumi from "@pulumi/pulumi";
import { type Properties, pick, UNKNOWN } from "../../provider/engine/properties";
import type { ResourceType } from "../../provider/engine/resourceTypes";
import type { Situation } from "../../provider/records/recordKind";
import { splitList } from "../../sdk/endpoints/normalForms";
import { type FieldTable, listFields } from "../../sdk/records/fields";
import type { PreviewAdoption } from "./adoption";

/** Converted inputs, and the problems with inputs that cannot be converted. */
export interface Prepared {
  readonly inputs: Properties;
  readonly failures: readonly pulumi.dynamic.CheckFailure[];
}

/** A kind of resource as the plugin serves it, using the dynamic provider's handlers. */
export interface PluginResource {
  /** The resource's type in the dynamic provider. */
  readonly dynamic: ResourceType;
  readonly handlers: pulumi.dynamic.ResourceProvider;
  /** The fields at RunPod; empty if the resource has no record there. */
  readonly table: FieldTable;
  /**
   * `true` if names must be unique, as explained at `RecordKind`. Unset if the resource has no
   * name.
   */
  readonly hasUniqueNames?: boolean;
  /** Converts inputs that RunPod does not have. */
  readonly prepare?: (inputs: Properties) => Prepared;
  /** Returns the names of inputs that are secret in every program. */
  readonly secretInputs?: (inputs: Properties) => readonly string[];
  /** Returns `true` if the handlers must know the name of a secret input. @default always */
  readonly namesSecret?: (name: string) => boolean;
  /**
   * Logs the changes that an adoption makes.
   * @throws Error if the record does not exist or must not be adopted
   */
  readonly previewAdoption?: PreviewAdoption;
  /** Returns warnings about new and changed inputs. */
  readonly warnings?: (inputs: Properties, secrets: readonly string[]) => readonly string[];
  /** Returns information about new and changed inputs. */
  readonly notes?: (inputs: Properties) => readonly string[];
  /** The inputs that limit the duration of an operation. `customTimeouts` overrides them. */
  readonly timeouts: Readonly<Partial<Record<"create" | "update" | "delete", readonly string[]>>>;
  /**
   * Returns the outputs that an update may change in addition to the inputs. A preview shows them
   * as unknown, so that a saved plan allows them to change.
   */
  readonly changedOutputs?: (situation: Situation) => readonly string[];
  /**
   * Returns the inputs of an import that a program needs.
   * @default those that differ from their default
   */
  readonly importedInputs?: (inputs: Properties) => Properties;
  /** Why the resource cannot be imported or read by id. @default it can */
  readonly cannotBeImported?: string;
}

/**
 * Returns properties as programs in every language see them: with lists instead of comma-separated
 * strings, and without properties that only the dynamic provider has.
 */
export function toPublic({ table }: PluginResource, properties: Properties): Properties {
  const { __provider, ...others } = properties;
  return withLists(table, others);
}

/** Replaces comma-separated strings with lists. */
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
