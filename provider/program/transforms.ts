import * as pulumi from "@pulumi/pulumi";

/**
 * Returns `true` if transformations of the resource, its parents or the stack may change its arguments after the
 * constructor. Then only the provider sees the final arguments.
 */
export function areChangedLater({ transformations, transforms, parent }: pulumi.CustomResourceOptions): boolean {
  const inherited = (parent ?? pulumi.runtime.getStackResource()) as { __transformations?: unknown[] } | undefined;
  const known = [transformations, transforms, inherited?.__transformations];
  return known.some((each) => Array.isArray(each) && each.length > 0) || hasCallbacks();
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
