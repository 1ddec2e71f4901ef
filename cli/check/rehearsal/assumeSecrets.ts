import { isObject } from "../../../provider/engine/properties";
import { HIDDEN_SECRETS } from "../../../provider/records/rehearsedDiff";
import { classOf } from "../../stack";
import type { Step } from "./otherResources";
import {
  type CopiedResource,
  deeplyRevealed,
  type Exported,
  isSecret,
  PLACEHOLDER,
  revealed,
  secretOf,
} from "./rewriteState";

/** The relevant part of a saved plan: the inputs that differ from those in state. */
export interface Plan {
  readonly resourcePlans?: Readonly<Record<string, { readonly goal?: { readonly inputDiff?: InputDiff } }>>;
}

interface InputDiff {
  readonly adds?: Readonly<Record<string, unknown>>;
  readonly updates?: Readonly<Record<string, unknown>>;
}

/** Marks each of this package's resources, so that its handlers do not compare the placeholders. */
export function withHiddenSecrets(state: Exported): Exported {
  const resources = (state.deployment.resources ?? []).map((resource) =>
    classOf(resource.type) === undefined
      ? resource
      : { ...resource, outputs: { ...resource.outputs, [HIDDEN_SECRETS]: true } },
  );
  return { ...state, deployment: { ...state.deployment, resources } };
}

/**
 * Replaces each secret placeholder in state with the program's current value, so that it shows no
 * change. Whether the secret really changes is unknown. Returns the names of the secrets, such as
 * `llama: env.TOKEN`.
 * @param steps the steps of the plan, which name the resources that an alias renames
 */
export function assumeSecrets(
  resources: readonly CopiedResource[],
  { resourcePlans = {} }: Plan,
  steps: readonly Step[],
): string[] {
  const renamed = new Map(steps.map(({ urn, oldState }) => [oldState?.urn, urn]));
  const unknown: string[] = [];
  for (const resource of resources) {
    if (classOf(resource.type) === undefined) continue;
    const { adds, updates } = resourcePlans[renamed.get(resource.urn) ?? resource.urn]?.goal?.inputDiff ?? {};
    const inputs = { ...adds, ...updates };
    const found: string[] = [];
    const old = fillIn(resource.inputs, inputs, found);
    resource.inputs = old;
    // The engine may encrypt a whole output even if the program marks only part of it as secret.
    const now = { ...inputs, ...old };
    resource.outputs = fillIn(resource.outputs, now, found);
    const name = resource.urn.split("::").at(-1);
    unknown.push(...[...new Set(found)].map((place) => `${name}: ${place}`));
  }
  return unknown;
}

function fillIn(values: Record<string, unknown> = {}, now: Record<string, unknown>, found: string[]) {
  return filled(values, now, "", found) as Record<string, unknown>;
}

function filled(old: unknown, now: unknown, place: string, found: string[]): unknown {
  if (isSecret(old)) {
    if (revealed(old) !== PLACEHOLDER) return old;
    if (place !== "") found.push(place);
    const value = deeplyRevealed(now);
    return value === undefined ? old : secretOf(value);
  }
  if (!isObject(old)) return old;
  const values = revealed(now);
  const at = (name: string) => (isObject(values) ? values[name] : undefined);
  return Object.fromEntries(
    Object.entries(old).map(([name, each]) => [
      name,
      filled(each, at(name), place === "" ? name : `${place}.${name}`, found),
    ]),
  );
}
