/**
 * Returns a warning that workers are billed even while idle. `workers` is `undefined` if the number
 * is secret.
 */
export function idleWorkersWarning(workers: number | undefined): string {
  if (workers === undefined) return "workersMin is above 0: idle workers are also billed";
  const many = workers === 1 ? "1 worker is" : `${workers} workers are`;
  return `workersMin is ${workers}: ${many} billed even while idle`;
}

/**
 * Returns a warning about an image whose tag is `latest` or missing; `undefined` for others. A
 * digest is fixed.
 */
export function movingTagWarning(imageName: string): string | undefined {
  const last = imageName.trim().split("/").at(-1) ?? "";
  const isMoving = !last.includes("@") && (!last.includes(":") || last.endsWith(":latest"));
  return isMoving
    ? "imageName has no fixed tag: workers may run an older image with the same name. Use a tag for each version"
    : undefined;
}
