import * as pulumi from "@pulumi/pulumi";
import type { InputProblem } from "../../../sdk/errors";
import type { RecordClaim } from "../../machine/sharedClaims";
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
export function claimAdoptee(resource: pulumi.CustomResource & { readonly __owner?: unknown }, adoptId: unknown): void {
  const engine = runtimeState().settings?.options?.engineAddr;
  if (!engine) return;
  // The engine deletes after the program has ended. These promises have settled by then, because
  // none of them waits for more than the registration.
  Promise.all([adoptId, resource.id, resource.urn, resource.__owner].map(resolveArg)).then(
    ([adoptee, id, urn, owner]) => {
      if (typeof adoptee?.value !== "string") return;
      const name = String(urn?.value).replace(/.*::/, "");
      const reason = `this run leaves out "${name}" (for example with --target)`;
      if (id?.isUnknown) share(adoptee.value, "program", { standing: "wanted", reason }, engine);
      else if (typeof owner?.value === "string") share(adoptee.value, owner.value, HELD, engine);
    },
    // The engine reports the program's own failures.
    () => undefined,
  );
}

const HELD: RecordClaim = { standing: "held", reason: "" };

function share(id: string, owner: string, claim: RecordClaim, engine: string): void {
  // Loaded lazily, because most programs adopt nothing.
  const { shareClaim }: typeof import("../../machine/sharedClaims") = require("../../machine/sharedClaims");
  try {
    shareClaim(id, owner, claim, engine);
  } catch (error) {
    throw new pulumi.RunError(error instanceof Error ? error.message : String(error));
  }
}
