import * as pulumi from "@pulumi/pulumi";
import { runtimeState } from "./runtimeState";

/**
 * Returns `true` if transformations of the resource, its parents or the stack may change its
 * arguments after the constructor has run. Only the provider then sees the final arguments.
 */
export function areChangedLater(options: pulumi.CustomResourceOptions): boolean {
  return hasTransformations(options) || (options.transforms?.length ?? 0) > 0 || runtimeState().callbacks !== undefined;
}

/**
 * Returns `true` if the resource's constructor runs the program's transformations (the predecessor
 * of transforms).
 */
export function hasTransformations({ transformations, parent }: pulumi.CustomResourceOptions): boolean {
  const above: object = parent ?? pulumi.runtime.getStackResource() ?? {};
  const inherited = "__transformations" in above ? above.__transformations : undefined;
  return [transformations, inherited].some((each) => Array.isArray(each) && each.length > 0);
}
