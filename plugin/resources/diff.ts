import { isDeepStrictEqual } from "node:util";
import type { Properties } from "../../provider/engine/properties";
import { type PluginResource, toPublic } from "./resource";

/** A change to one property, identified by its path, such as `gpuIds[0]` or `env.MODEL`. */
export interface PropertyChange {
  readonly path: string;
  readonly kind: "add" | "delete" | "update";
  readonly isReplacement: boolean;
}

/** The difference between a resource and the program's inputs. */
export interface Difference {
  readonly isChanged: boolean;
  readonly changes: readonly PropertyChange[];
  readonly replaces: readonly string[];
  readonly deleteBeforeReplace: boolean;
}

/** Compares a resource with the program's checked inputs. */
export async function diff(
  resource: PluginResource,
  id: string,
  outputs: Properties,
  oldInputs: Properties,
  inputs: Properties,
): Promise<Difference> {
  const result = (await resource.handlers.diff?.(id, outputs, inputs)) ?? {};
  const [before, after] = [oldInputs, inputs].map((each) => toPublic(resource, each)) as [Properties, Properties];
  const replaces = result.replaces ?? [];
  return {
    // If the handlers don't report changes, compare the inputs.
    isChanged: result.changes ?? !isDeepStrictEqual(before, after),
    changes: changesOf(before, after, replaces),
    replaces,
    deleteBeforeReplace: result.deleteBeforeReplace ?? false,
  };
}

/**
 * Returns the changes to inputs that a program sets. The provider's internal inputs are left out.
 */
function changesOf(before: Properties, after: Properties, replaces: readonly string[]): PropertyChange[] {
  const names = Object.keys({ ...before, ...after }).filter((name) => !name.startsWith("__"));
  return names.flatMap((name) =>
    compare(name, before[name], after[name]).map((change) => ({ ...change, isReplacement: replaces.includes(name) })),
  );
}

function compare(path: string, before: unknown, after: unknown): Omit<PropertyChange, "isReplacement">[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (before === undefined) return [{ path, kind: "add" }];
  if (after === undefined) return [{ path, kind: "delete" }];
  if (!isContainer(before) || !isContainer(after) || Array.isArray(before) !== Array.isArray(after)) {
    return [{ path, kind: "update" }];
  }
  return Object.keys({ ...before, ...after }).flatMap((key) =>
    compare(pathOf(path, key, Array.isArray(after)), before[key], after[key]),
  );
}

function pathOf(parent: string, key: string, isElement: boolean): string {
  if (isElement) return `${parent}[${key}]`;
  return /^\w+$/.test(key) ? `${parent}.${key}` : `${parent}[${JSON.stringify(key)}]`;
}

function isContainer(value: unknown): value is Properties {
  return typeof value === "object" && value !== null;
}
