import { describeEngine, ensurePulumi } from "../../tools/pulumi-cli/ensurePulumi";

/** Prepares the Pulumi engine before the tests that need it, and shows the progress. */
export default async function prepareEngine(): Promise<void> {
  console.error(describeEngine(await ensurePulumi()));
}
