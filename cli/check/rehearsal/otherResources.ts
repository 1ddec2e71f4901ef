import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { isObject } from "../../../provider/engine/properties";
import { classOf, nameIn } from "../../stack";
import type { CopiedResource } from "./rewriteState";

const PROVIDER = "pulumi:providers:";
/** The packages that this package's resources use. */
const OWN = ["pulumi-nodejs", "serverless-gpu", "pulumi"];

/** Returns the packages of other providers in a state, and those that they are made from. */
export function otherPackages(resources: readonly CopiedResource[]): string[] {
  const packages = resources.flatMap(({ type, inputs }) => {
    if (!type.startsWith(PROVIDER)) return [];
    const made = inputs?.__internal;
    const base = isObject(made) && typeof made.name === "string" ? [made.name] : [];
    return [type.slice(PROVIDER.length), ...base];
  });
  return [...new Set(packages)].filter((name) => !OWN.includes(name));
}

/**
 * Returns the package whose provider the engine did not find, because the state does not name it.
 */
export function missingPackage(message: string): string | undefined {
  return /no resource plugin '(?:pulumi-resource-)?([\w-]+)/.exec(message)?.[1];
}

/** Returns the note about packages that were left out. */
export function leftOutNote(packages: readonly string[]): string[] {
  if (packages.length === 0) return [];
  return [
    `Not in the state, so their resources are left out: ${packages.join(", ")}. A rehearsal starts no other provider.`,
  ];
}

/**
 * Rejects a project file that names another provider's executable, because the engine would start
 * it.
 * @throws Error that names it
 */
export function refuseNamedPlugins(copy: string): void {
  const file = ["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"]
    .map((name) => path.join(copy, name))
    .find((each) => existsSync(each));
  const text = file === undefined ? "" : readFileSync(file, "utf8");
  const section = /^["']?plugins["']?\s*:(.*(?:\n(?:[ \t].*|-.*|\s*))*)/m.exec(text)?.[1] ?? "";
  const names = [...section.matchAll(/["']?name["']?\s*:\s*["']?([\w-]+)/g)].map(([, name]) => name ?? "");
  const others = names.filter((name) => name !== "serverless-gpu");
  if (others.length > 0)
    throw new Error(
      `the project file names plugins of other packages (${others.join(", ")}), which a rehearsal must not start`,
    );
}

/** A step of a preview. */
export interface Step {
  readonly op: string;
  readonly urn: string;
  readonly oldState?: StepState;
  readonly newState?: StepState;
  readonly diffReasons?: readonly string[] | null;
}

export interface StepState {
  /** In the old state, this is the URN from before an alias renamed the resource. */
  readonly urn?: string;
  readonly id?: string;
  readonly type: string;
  readonly custom?: boolean;
  readonly protect?: boolean;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly dependencies?: readonly string[] | null;
  /** The names of the program's hooks, by when they run, such as `beforeUpdate`. */
  readonly resourceHooks?: Readonly<Record<string, readonly string[]>>;
}

/** Returns the note about the program's resource hooks, which the preview names. */
export function hooksNote(steps: readonly Step[]): string[] {
  const hooks = steps.flatMap(({ urn, oldState, newState }) =>
    Object.entries((newState ?? oldState)?.resourceHooks ?? {}).flatMap(([when, names]) =>
      names.map((name) => `${name} (${nameIn(urn)}, ${when})`),
    ),
  );
  if (hooks.length === 0) return [];
  return [`These resource hooks run for real in a rehearsal: ${[...new Set(hooks)].join(", ")}.`];
}

/**
 * Rejects a change in which one of this package's resources depends on a new or changed resource of
 * another provider, because its outputs are unknown.
 * @throws Error that names both
 */
export function refuseDependents(steps: readonly Step[]): void {
  const isOther = ({ oldState, newState }: Step) => {
    const { type = "", custom = false } = newState ?? oldState ?? {};
    return custom && !type.startsWith("pulumi:") && classOf(type) === undefined;
  };
  const changed = new Set(steps.filter((step) => isOther(step) && step.op !== "same").map(({ urn }) => urn));
  for (const { urn, newState } of steps) {
    if (classOf(newState?.type ?? "") === undefined) continue;
    const cause = (newState?.dependencies ?? []).find((each) => changed.has(each));
    if (cause === undefined) continue;
    throw new Error(
      `${urn} depends on ${cause}, which this change creates or changes. A rehearsal keeps the resources of other providers as they are, so it cannot know the values. Nothing was applied`,
    );
  }
}
