import * as pulumi from "@pulumi/pulumi";

/**
 * Returns `true` if transformations of the resource, its parents or the stack may change its arguments after the
 * constructor. Then only the provider sees the final arguments.
 */
export function areChangedLater(options: pulumi.CustomResourceOptions): boolean {
  return hasTransformations(options) || (options.transforms?.length ?? 0) > 0 || hasCallbacks();
}

/** Returns `true` if the constructor of the resource runs functions of the program, of an older kind than transforms. */
export function hasTransformations({ transformations, parent }: pulumi.CustomResourceOptions): boolean {
  const inherited = (parent ?? pulumi.runtime.getStackResource()) as { __transformations?: unknown[] } | undefined;
  return [transformations, inherited?.__transformations].some((each) => Array.isArray(each) && each.length > 0);
}

/** Returns `true` if the program has registered callbacks of the engine, which include transforms. */
function hasCallbacks(): boolean {
  try {
    const state = require("@pulumi/pulumi/runtime/state") as { getStore(): { callbacks?: unknown } };
    return state.getStore().callbacks !== undefined;
  } catch {
    return false;
  }
}
