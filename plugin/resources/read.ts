import type { Properties } from "../../provider/engine/properties";
import { managedRecord } from "../../provider/fields/managed";
import { newOwner, newWrite, stampOutput } from "../../provider/machine/stamp";
import { InvalidInputError } from "../../sdk/errors/errors";
import { defaultsOf } from "../../sdk/records/fields";
import { withoutDefaults } from "./importDefaults";
import { type PluginResource, toPublic } from "./resource";

/** A resource as read from the service. */
interface Read {
  readonly outputs: Properties;
  readonly inputs: Properties;
}

/**
 * Reads a resource. If no outputs are recorded, the resource is new to the stack and every field
 * counts as managed.
 * @returns `undefined` if the resource is gone
 * @throws NotFoundError if a resource that is new to the stack does not exist
 */
export async function read(
  resource: PluginResource,
  id: string,
  outputs: Properties,
  inputs: Properties,
): Promise<Read | undefined> {
  const { handlers, table } = resource;
  const isNew = Object.keys(outputs).length === 0;
  if (isNew && Object.keys(table).length === 0) {
    const message = "cannot be imported or read by id: it runs its job when it is created";
    throw new InvalidInputError("the resource", [{ property: "SmokeTest", message }]);
  }
  if (isNew && resource.cannotBeImported !== undefined)
    throw new InvalidInputError("the resource", [{ property: "id", message: resource.cannotBeImported }]);
  const managed = managedRecord(table, isNew ? table : inputs);
  const known = isNew
    ? { ...managed, __mustExist: true, ...stampOutput(newOwner(), newWrite()) }
    : { ...managed, ...outputs };
  const result = await handlers.read?.(id, known);
  if (!result?.id) return undefined;
  const found = {
    outputs: toPublic(resource, result.props ?? {}),
    inputs: toPublic(resource, result.inputs ?? inputs),
  };
  const isImported = isNew || inputs.__imported !== undefined;
  if (!isImported) return found;
  // The program decides later which fields are managed, even if a refresh comes first.
  const { __managed, ...others } = found.outputs;
  if (!isNew) return { outputs: others, inputs: { ...found.inputs, __imported: true } };
  const needed = resource.importedInputs ?? ((all: Properties) => withoutDefaults(defaultsOf(table), all));
  return { outputs: others, inputs: { ...toPublic(resource, needed(result.inputs ?? {})), __imported: true } };
}
