import * as pulumi from "@pulumi/pulumi";

/** Logical names of the adopting resources by id, for each program that runs in this process. */
const adopted = new WeakMap<pulumi.Resource, Map<string, string>>();

/**
 * Refuses a second resource that adopts the same object, in any account: removing one of the two resources would delete
 * the object of both. The handlers compare ids that are not known yet.
 * @throws RunError if another resource adopts the object
 */
export function refuseSecondAdoption(one: string, name: string, adoptId: pulumi.Input<string> | undefined): void {
  // Unit tests with mocks have no stack.
  const stack = pulumi.runtime.getStackResource();
  if (typeof adoptId !== "string" || !stack) return;
  const names = adopted.get(stack) ?? new Map<string, string>();
  adopted.set(stack, names);
  const other = names.get(adoptId);
  if (other !== undefined) {
    throw new pulumi.RunError(
      `the resources "${other}" and "${name}" have the same adoptId, ${adoptId}: ${one} belongs to one resource. Keep one of them`,
    );
  }
  names.set(adoptId, name);
}
