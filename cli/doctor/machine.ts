import { ownPackage } from "../ownPackage";
import { type Finding, failed, ok, warning } from "./check";
import type { Program } from "./program";
import type { Learned } from "./pulumiCommand";
import { isInRange } from "./versionRange";

/** The first engine whose refresh passes inputs on, without which drift is never repaired. */
const PULUMI_MINIMUM = "3.216.0";
/** The first engine whose `--expect-no-changes` has an exit code of its own (7). */
const PULUMI_RECOMMENDED = "3.227.0";
const PULUMI_INSTALL = `Install the Pulumi CLI, ${PULUMI_RECOMMENDED} or later: https://www.pulumi.com/docs/install/`;

/** Whether this Node.js runs the package. */
export function checkNode(version: string): Finding {
  const { node } = ownPackage().engines;
  if (isInRange(version, node)) return ok(version);
  return failed(`${version}, and ${node} is needed`, "Install a newer Node.js: https://nodejs.org");
}

/** Whether the Pulumi engine is there and new enough. Only programs need it; the client and the emulator do not. */
export function checkPulumi(engine: Learned<string>, program: Program | undefined): Finding {
  if ("problem" in engine) return (program ? failed : warning)(engine.problem, PULUMI_INSTALL);
  const version = engine.value.trim().replace(/^v/, "");
  if (!isInRange(version, `>=${PULUMI_MINIMUM}`)) {
    return failed(`${version}: its refresh cannot repair drift, which needs ${PULUMI_MINIMUM}`, PULUMI_INSTALL);
  }
  if (!isInRange(version, `>=${PULUMI_RECOMMENDED}`)) {
    return warning(`${version}: it has no exit code for drift, which needs ${PULUMI_RECOMMENDED}`, PULUMI_INSTALL);
  }
  return ok(version);
}
