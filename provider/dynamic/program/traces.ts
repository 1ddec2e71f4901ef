import type * as pulumi from "@pulumi/pulumi";
import { hasTransformations } from "./transforms";

/**
 * Stops the recording of stack traces until the returned function is called. Pulumi records one for
 * each of a property's four promises, and translates every frame with source maps, which takes
 * three quarters of the time of a declaration. Traces are printed only with
 * PULUMI_DEBUG_PROMISE_LEAKS, so they are still recorded if it is set. They are also recorded if
 * there are transformations, because the constructor runs those functions of the program.
 *
 * Pulumi still reads the one trace that it writes into state, which shows where the program
 * declares the resource. It ends with the program's frames, because the frames that started the
 * program would make up a sixth of an endpoint's state.
 * @returns a function that starts it again. An error that ends the declaration gets the trace of
 * its caller
 */
export function suspendTraces(options: pulumi.CustomResourceOptions): (error?: unknown) => void {
  if (process.env.PULUMI_DEBUG_PROMISE_LEAKS || hasTransformations(options)) return () => {};
  const { stackTraceLimit, prepareStackTrace } = Error;
  Error.stackTraceLimit = 0;
  // Pulumi's `run` sets this function, for source maps.
  if (prepareStackTrace) {
    Error.prepareStackTrace = (error, frames) => prepareStackTrace(error, programFrames(frames));
  }
  return function restore(error) {
    Error.stackTraceLimit = stackTraceLimit;
    Error.prepareStackTrace = prepareStackTrace;
    if (error instanceof Error) Error.captureStackTrace(error, restore);
  };
}

/** The files of Node.js and of Pulumi, which start the program. */
const RUNNER = /^node:|[\\/]node_modules[\\/]@pulumi[\\/]pulumi[\\/]/;

/** Returns the frames up to the outermost one of the program. */
function programFrames(frames: NodeJS.CallSite[]): NodeJS.CallSite[] {
  // Functions of the language, such as `Array.map`, have no file.
  const outermost = frames.findLastIndex((frame) => !RUNNER.test(frame.getFileName() ?? "node:"));
  return frames.slice(0, outermost + 1);
}

/**
 * Adds the trace of the declaration to the error of a registration that the engine refuses. Pulumi
 * makes that error while no traces are recorded. Other errors stay as they are.
 */
export function showWhereRefused(resource: pulumi.Resource): void {
  const declared: { stack?: string } = {};
  Error.captureStackTrace(declared, showWhereRefused);
  registrationOf(resource).catch((error: unknown) => {
    if (!(error instanceof Error) || error.name !== "Error" || "__pulumiRunError" in error) return;
    // The stack of a cut trace is the message alone.
    if (/\n +at /.test(String(error.stack))) return;
    error.stack = String(declared.stack).replace(/^.*/, () => String(error));
  });
}

/** Returns the promise of the resource's URN, which rejects if the engine refuses the resource. */
export function registrationOf({ urn }: pulumi.Resource): Promise<unknown> {
  const output: object = urn;
  return "promise" in output && typeof output.promise === "function" ? output.promise() : Promise.resolve();
}
