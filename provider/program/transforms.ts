import * as pulumi from "@pulumi/pulumi";

/**
 * Whether something may change a resource's arguments after its constructor: transformations of its own, of its parents
 * or of the stack. Then only the provider sees what is really declared.
 */
export function areChangedLater({ transformations, transforms, parent }: pulumi.CustomResourceOptions): boolean {
  const inherited = (parent ?? pulumi.runtime.getStackResource()) as { __transformations?: unknown[] } | undefined;
  const known = [transformations, transforms, inherited?.__transformations];
  return known.some((each) => Array.isArray(each) && each.length > 0) || hasCallbacks();
}

/** Whether the program has registered functions that the engine calls: its transforms are among them. */
function hasCallbacks(): boolean {
  try {
    const state = require("@pulumi/pulumi/runtime/state") as { getStore(): { callbacks?: unknown } };
    return state.getStore().callbacks !== undefined;
  } catch {
    return false;
  }
}
