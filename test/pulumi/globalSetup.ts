import { describeEngine, ensurePulumi } from "../../tools/pulumi-cli/ensurePulumi";
import { assertBuilt } from "../../tools/sourcesOfBuild";

/**
 * Prepares the Pulumi engine before the tests that need it, and shows the progress. The tests run
 * the build, so it must be up to date with the sources.
 */
export default async function prepareEngine(): Promise<void> {
  assertBuilt();
  console.error(describeEngine(await ensurePulumi()));
}
