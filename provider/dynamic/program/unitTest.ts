import * as pulumi from "@pulumi/pulumi";

/** Returns `true` in a unit test with Pulumi's mocks (`pulumi.runtime.setMocks`). */
export function isUnitTest(): boolean {
  try {
    const monitor: object = pulumi.runtime.getMonitor() ?? {};
    return "mocks" in monitor;
  } catch {
    // A plain script, with neither an engine nor mocks.
    return false;
  }
}
