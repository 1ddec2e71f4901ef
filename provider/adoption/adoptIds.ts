import * as pulumi from "@pulumi/pulumi";
import type { InputProblem } from "../../sdk/errors";

/**
 * For each program that runs in this process, the logical names of the adopting resources by id.
 */
const adopted = new WeakMap<pulumi.Resource, Map<string, string>>();

/**
 * Returns a problem if another resource adopts the same record, in any account: removing either
 * resource would delete the record that both manage. Ids that are not known yet are compared later,
 * by the handlers.
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
