import { writeFile } from "node:fs/promises";
import path from "node:path";
import { REPOSITORY } from "../support/sources";
import { BIN, run } from "./packed";

/** The ways in which TypeScript resolves packages, and the ending of a program's file for each. */
const RESOLUTIONS = [
  { module: "node20", moduleResolution: "node16", extension: "mts" },
  { module: "node20", moduleResolution: "node16", extension: "cts" },
  { module: "esnext", moduleResolution: "bundler", extension: "ts" },
  { module: "commonjs", moduleResolution: "node10", extension: "ts" },
] as const;

/**
 * Checks a TypeScript program in a folder, in each way of resolving packages. Throws, with tsc's
 * output, when it is wrong.
 */
export async function checkTypes(
  folder: string,
  program: string,
  { skipLibCheck = true }: { skipLibCheck?: boolean } = {},
): Promise<void> {
  const options = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2023", "--ignoreDeprecations", "6.0"];
  const strictness = ["--exactOptionalPropertyTypes", "--skipLibCheck", String(skipLibCheck)];
  const types = ["--typeRoots", path.join(REPOSITORY, "node_modules/@types"), "--types", "node"];
  for (const { module, moduleResolution, extension } of RESOLUTIONS) {
    const file = `${moduleResolution}.${extension}`;
    await writeFile(path.join(folder, file), program);
    const resolution = ["--module", module, "--moduleResolution", moduleResolution];
    await run(path.join(BIN, "tsc"), [...options, ...types, ...strictness, ...resolution, file], { cwd: folder });
  }
}
