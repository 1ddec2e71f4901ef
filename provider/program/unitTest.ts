import * as pulumi from "@pulumi/pulumi";

/** Whether the program runs in a unit test with Pulumi's mocks (`pulumi.runtime.setMocks`) instead of the engine. */
export function isUnitTest(): boolean {
  try {
    return "mocks" in (pulumi.runtime.getMonitor() as object);
  } catch {
    // There is neither an engine nor a mock: a plain script.
    return false;
  }
}
