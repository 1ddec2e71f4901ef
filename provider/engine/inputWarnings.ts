import { looksLikeCredential } from "../../sdk/containers/fields";
import { holdsReference } from "../../sdk/secrets/secret";
import { UNKNOWN } from "./properties";

/**
 * Returns a warning that workers are billed even while they are idle. `workers` is `undefined` if
 * their number is secret.
 */
export function idleWorkersWarning(workers: number | undefined): string {
  if (workers === undefined) return "workersMin is above 0: idle workers are also billed";
  const many = workers === 1 ? "1 worker is" : `${workers} workers are`;
  return `workersMin is ${workers}: ${many} billed even while idle`;
}

/**
 * Returns a warning if the tag of an image is `latest` or missing, and `undefined` otherwise. An
 * image with a digest is fixed.
 */
export function movingTagWarning(imageName: string): string | undefined {
  const last = imageName.trim().split("/").at(-1) ?? "";
  const isMoving = !last.includes("@") && (!last.includes(":") || last.endsWith(":latest"));
  return isMoving
    ? "imageName has no fixed tag: workers may run an older image with the same name. Use a tag for each version"
    : undefined;
}

/**
 * Returns the names of the variables that look like keys and whose values are plain text, not
 * references to secrets.
 */
export function keysInPlainText(env: unknown): string[] {
  if (typeof env !== "object" || env === null) return [];
  const isPlain = (value: unknown) =>
    typeof value === "string" && !["", UNKNOWN].includes(value) && !holdsReference(value);
  return Object.entries(env).flatMap(([name, value]) => (looksLikeCredential(name) && isPlain(value) ? [name] : []));
}

/** Returns a note about variables that look like keys, or `undefined` if there are none. */
export function plainKeysNote(names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  return (
    `env: ${names.join(", ")} ${names.length === 1 ? "looks like a key" : "look like keys"}. The service shows variables ` +
    "in plain text to everybody who can read its templates and endpoints. Keep a key in a Secret, and set the variable " +
    "to the secret's reference"
  );
}

/**
 * Returns a problem if `ignoreChanges` contains worker counts although a schedule decides them.
 * Pulumi would keep their old values, or apply those of the schedule and say that it ignores them.
 */
export function ignoredScheduleProblem(inputs: object, ignoreChanges: readonly string[]): string[] {
  const ignored = ignoreChanges.filter((path) => /^(\[")?(workersMin|workersMax|\*)("\])?$/.test(path));
  if (!("schedule" in inputs) || inputs.schedule === undefined || inputs.schedule === null || ignored.length === 0)
    return [];
  return [
    `schedule decides the worker counts, so ignoreChanges cannot contain ${ignored.join(", ")}: remove that from ignoreChanges, or ` +
      "remove schedule",
  ];
}
