import { isDeepStrictEqual } from "node:util";
import { type Properties, UNKNOWN } from "../../provider/engine/properties";
import { SMOKE_TEST } from "../../provider/engine/resourceTypes";
import { hasTestFailed } from "../../provider/smokeTest/smokeTestHandlers";
import { isInitFailure } from "../wire/failures";
import { type PluginResource, publicOutputs, toPublic } from "./resource";
import { withTimeout } from "./timeouts";

/** A created resource. */
interface Created {
  readonly id: string;
  readonly outputs: Properties;
}

/** Creates a resource. `timeout` is the `customTimeouts` option in seconds; 0 if it is not set. */
export async function create(resource: PluginResource, inputs: Properties, timeout: number): Promise<Created> {
  const limited = withTimeout(resource.timeouts.create, inputs, timeout);
  return recording(resource, limited.restore, async () => {
    const { id, outs } = await resource.handlers.create(limited.properties);
    return { id, outputs: outs };
  });
}

/** Updates a resource to the program's inputs. Returns its outputs. */
export async function update(
  resource: PluginResource,
  id: string,
  outputs: Properties,
  oldInputs: Properties,
  inputs: Properties,
  timeout: number,
): Promise<Properties> {
  // A smoke test needs no update if only the form of its inputs has changed.
  const { __provider, ...before } = oldInputs;
  const isTest = resource.dynamic === SMOKE_TEST;
  if (isTest && !hasTestFailed(outputs) && isDeepStrictEqual(before, inputs)) return toPublic(resource, outputs);
  const limited = withTimeout(resource.timeouts.update, inputs, timeout);
  const updated = await recording(resource, limited.restore, async () => {
    const result = await resource.handlers.update?.(id, outputs, limited.properties);
    return { id, outputs: result?.outs ?? {} };
  });
  return updated.outputs;
}

/**
 * Returns the preview outputs of a resource that would be created. RunPod decides the values that
 * the program does not set.
 */
export function previewedCreate(resource: PluginResource, inputs: Properties): Properties {
  const given = toPublic(resource, inputs);
  const isNameOpen = resource.hasUniqueNames === true && inputs.__automaticName !== undefined;
  const entries = resource.dynamic.outputs.map((name) => [
    name,
    given[name] === undefined || (name === "name" && isNameOpen) ? UNKNOWN : given[name],
  ]);
  return Object.fromEntries(entries);
}

/** Returns the preview outputs of a resource that would be updated. */
export function previewedUpdate(
  resource: PluginResource,
  id: string,
  outputs: Properties,
  inputs: Properties,
): Properties {
  const open = resource.changedOutputs?.({ id, outputs, inputs }) ?? [];
  return {
    ...publicOutputs(resource, outputs),
    ...publicOutputs(resource, inputs),
    ...Object.fromEntries(open.map((name) => [name, UNKNOWN])),
  };
}

/** Records what a call created, even if it fails after the resource exists. */
async function recording(
  resource: PluginResource,
  restore: (outputs: Properties) => Properties,
  call: () => Promise<Created>,
): Promise<Created> {
  const record = (outputs: Properties) => toPublic(resource, restore(outputs));
  try {
    const { id, outputs } = await call();
    return { id, outputs: record(outputs) };
  } catch (error) {
    if (isInitFailure(error)) throw Object.assign(error, { properties: record(error.properties) });
    throw error;
  }
}
