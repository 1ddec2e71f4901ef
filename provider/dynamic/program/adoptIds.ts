import * as pulumi from "@pulumi/pulumi";
import type { InputProblem } from "../../../sdk/errors/errors";
import { ownerOf } from "../../machine/stamp";
import { markAdopter } from "../../ownership/adopters";
import { resolveArg } from "./resolvedArgs";
import { runtimeState } from "./runtimeState";

/** For each program in this process, the logical names of adopting resources, by adopted id. */
const adopted = new WeakMap<pulumi.Resource, Map<string, string>>();

/**
 * Returns a problem if another resource adopts the same record, in any account. Removing either
 * resource would delete the record that both manage. The handlers compare ids that are not yet
 * known.
 */
export function secondAdoption(
  one: string,
  name: string,
  adoptId: pulumi.Input<string> | undefined,
): readonly InputProblem[] {
  // Unit tests with mocks have no stack.
  const stack = pulumi.runtime.getStackResource();
  if (typeof adoptId !== "string" || !stack) return [];
  const names = adopted.get(stack) ?? new Map<string, string>();
  adopted.set(stack, names);
  const other = names.get(adoptId);
  if (other !== undefined) {
    const message = `the resources "${other}" and "${name}" have the same adoptId, ${adoptId}: ${one} belongs to one resource. Keep one of them`;
    return [{ property: "", message }];
  }
  names.set(adoptId, name);
  return [];
}

/**
 * Claims the record that a resource of the program adopts. If a run leaves the resource out, for
 * example because of `--target`, the engine calls no handler for it, and would delete the record
 * together with another resource that manages it.
 */
export function claimAdoptee(resource: pulumi.CustomResource & { readonly __stamp?: unknown }, adoptId: unknown): void {
  const engine = runtimeState().settings?.options?.engineAddr;
  if (!engine) return;
  // The engine deletes after the program has ended. These promises have settled by then, because
  // none of them waits for more than the registration.
  Promise.all([adoptId, resource.id, resource.__stamp].map(resolveArg)).then(
    ([adoptee, id, stamp]) => {
      if (typeof adoptee?.value !== "string") return;
      const owner = ownerOf({ __stamp: stamp?.value });
      if (id?.isUnknown) markAdopter(adoptee.value, "program", "wants", engine);
      else if (owner !== "") markAdopter(adoptee.value, owner, "has", engine);
    },
    // The engine reports the program's own failures.
    () => undefined,
  );
}
