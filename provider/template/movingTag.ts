/** Returns a warning about an image whose tag is `latest` or missing; `undefined` for others. A digest is fixed. */
export function movingTagWarning(imageName: string): string | undefined {
  const last = imageName.trim().split("/").at(-1) ?? "";
  const isMoving = !last.includes("@") && (!last.includes(":") || last.endsWith(":latest"));
  return isMoving
    ? "imageName has no fixed tag: workers may run an older image of the same name. Use a tag for each version"
    : undefined;
}
