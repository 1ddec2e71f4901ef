import { describeEngine, ensurePulumi } from "../../tools/pulumi-cli/ensurePulumi";
import { assertBuilt } from "../../tools/sourcesOfBuild";

/**
 * Prepares the Pulumi engine before the tests that need it, and shows the progress. They run what
 * is built, so the build must be of these sources.
 */
export default async function prepareEngine(): Promise<void> {
  assertBuilt();
  console.error(describeEngine(await ensurePulumi()));
}
