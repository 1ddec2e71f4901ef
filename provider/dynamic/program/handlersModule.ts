import { createRequire } from "node:module";
import path from "node:path";
import * as pulumi from "@pulumi/pulumi";
import type { InputProblem } from "../../../sdk/errors/errors";

const HANDLERS = "pulumi-serverless-gpu/handlers";

/**
 * The programs in which the problem was reported. It ends the program, so only one resource reports
 * it.
 */
const told = new WeakSet<object>();

/**
 * Returns the problem that Pulumi cannot load the handlers, which it looks for in the program's
 * folder, regardless of which package or bundle declares the resources.
 */
export function missingHandlers(): InputProblem[] {
  const program = pulumi.runtime.getStackResource();
  if (!program || told.has(program) || !isInProgramFolder()) return [];
  // Pulumi starts in the program's folder, which may be below the project's. A program may leave
  // it.
  const project = pulumi.getRootDirectory();
  if ([process.cwd(), project].some(hasHandlers)) return [];
  told.add(program);
  const message =
    `Pulumi cannot load pulumi-serverless-gpu/handlers from ${project}, where it looks for it even if a library or a bundle declares ` +
    `the resources. In ${project}: npm install pulumi-serverless-gpu`;
  return [{ property: "", message }];
}

/**
 * An inline program of the Automation API runs in its caller's process, which may be in any folder.
 */
function isInProgramFolder(): boolean {
  return /[\\/]@pulumi[\\/]pulumi[\\/]cmd[\\/]run[\\/]/.test(process.argv[1] ?? "");
}

function hasHandlers(folder: string): boolean {
  try {
    createRequire(path.join(folder, "package.json")).resolve(HANDLERS);
    return true;
  } catch {
    return false;
  }
}
