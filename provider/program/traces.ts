import type * as pulumi from "@pulumi/pulumi";
import { hasTransformations } from "./transforms";

/**
 * Stops the recording of stack traces until the returned function is called. Pulumi records one for each of the four
 * promises of each property, and translates each of its frames with source maps: three quarters of the time of a
 * declaration. They are printed only with PULUMI_DEBUG_PROMISE_LEAKS, which keeps them. So do transformations: the
 * constructor runs these functions of the program.
 * @returns a function that starts it again. An error that ends the declaration gets the trace of its caller
 */
export function suspendTraces(options: pulumi.CustomResourceOptions): (error?: unknown) => void {
  if (process.env.PULUMI_DEBUG_PROMISE_LEAKS || hasTransformations(options)) return () => {};
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  return function restore(error) {
    Error.stackTraceLimit = before;
    if (error instanceof Error) Error.captureStackTrace(error, restore);
  };
}
