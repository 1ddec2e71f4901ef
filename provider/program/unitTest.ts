import * as pulumi from "@pulumi/pulumi";

/**
 * Returns `true` if the program runs in a unit test with Pulumi's mocks (`pulumi.runtime.setMocks`) instead of the
 * engine.
 */
export function isUnitTest(): boolean {
  try {
    return "mocks" in (pulumi.runtime.getMonitor() as object);
  } catch {
    // A plain script, with neither an engine nor mocks.
    return false;
  }
}
