import type * as pulumi from "@pulumi/pulumi";
import { hasTransformations } from "./transforms";

/**
 * Suspends stack traces until the returned function is called. Pulumi records one for each of a
 * property's four promises and maps every frame with source maps, which takes three quarters of the
 * time of a declaration. The traces are only printed with PULUMI_DEBUG_PROMISE_LEAKS, so they are
 * still recorded if it is set. They are also recorded if there are transformations, because the
 * constructor runs these functions of the program.
 *
 * Pulumi still reads one trace and stores it in state to show where the program declares the
 * resource. It ends with the program's frames, because the frames that started the program would
 * take up a sixth of an endpoint's state.
 * @returns a function that resumes recording. An error that ends the declaration gets its caller's
 * trace.
 */
export function suspendTraces(options: pulumi.CustomResourceOptions): (error?: unknown) => void {
  if (process.env.PULUMI_DEBUG_PROMISE_LEAKS || hasTransformations(options)) return () => {};
  const { stackTraceLimit, prepareStackTrace } = Error;
  Error.stackTraceLimit = 0;
  // Pulumi's `run` sets this function for source maps.
  if (prepareStackTrace) {
    Error.prepareStackTrace = (error, frames) => prepareStackTrace(error, programFrames(frames));
  }
  return function restore(error) {
    Error.stackTraceLimit = stackTraceLimit;
    Error.prepareStackTrace = prepareStackTrace;
    if (error instanceof Error) Error.captureStackTrace(error, restore);
  };
}

/** The files of Node.js and Pulumi, which start the program. */
const RUNNER = /^node:|[\\/]node_modules[\\/]@pulumi[\\/]pulumi[\\/]/;

/** Returns the frames up to the program's outermost one. */
function programFrames(frames: NodeJS.CallSite[]): NodeJS.CallSite[] {
  // Built-in functions such as `Array.map` have no file.
  const outermost = frames.findLastIndex((frame) => !RUNNER.test(frame.getFileName() ?? "node:"));
  return frames.slice(0, outermost + 1);
}

/**
 * Adds the declaration's trace to the error of a registration that the engine rejected, because
 * Pulumi creates that error while traces are suspended. Other errors are not changed.
 */
export function showWhereRefused(resource: pulumi.Resource): void {
  const declared: { stack?: string } = {};
  Error.captureStackTrace(declared, showWhereRefused);
  registrationOf(resource).catch((error: unknown) => {
    if (!(error instanceof Error) || error.name !== "Error" || "__pulumiRunError" in error) return;
    // While traces are suspended, `error.stack` contains only the message.
    if (/\n +at /.test(String(error.stack))) return;
    error.stack = String(declared.stack).replace(/^.*/, () => String(error));
  });
}

/** Returns the promise of the resource's URN, which rejects if the engine rejects the resource. */
export function registrationOf({ urn }: pulumi.Resource): Promise<unknown> {
  const output: object = urn;
  return "promise" in output && typeof output.promise === "function" ? output.promise() : Promise.resolve();
}
