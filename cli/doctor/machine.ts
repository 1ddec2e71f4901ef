import { ownPackage } from "../ownPackage";
import type { Learned } from "../pulumiCommand";
import { type CheckResult, failed, ok, warning } from "./check";
import type { Program } from "./program";
import { isInRange } from "./versionRange";

/**
 * The first engine version whose refresh passes inputs to the provider, which drift repair needs.
 */
const PULUMI_MINIMUM = "3.216.0";
/** The first engine version in which `--expect-no-changes` has its own exit code (7). */
const PULUMI_RECOMMENDED = "3.227.0";
const PULUMI_INSTALL = `Install the Pulumi CLI, ${PULUMI_RECOMMENDED} or later: https://www.pulumi.com/docs/install/`;

/** Checks that the package supports this version of Node.js. */
export function checkNode(version: string): CheckResult {
  const { node } = ownPackage().engines;
  if (isInRange(version, node)) return ok(version);
  return failed(`${version}, but ${node} is required`, "Install a newer Node.js: https://nodejs.org");
}

/**
 * Checks that the Pulumi engine is installed and new enough. The client and the emulator do not
 * need it.
 */
export function checkPulumi(engine: Learned<string>, program: Program | undefined): CheckResult {
  if ("problem" in engine) return (program ? failed : warning)(engine.problem, PULUMI_INSTALL);
  const version = engine.value.trim().replace(/^v/, "");
  if (!isInRange(version, `>=${PULUMI_MINIMUM}`)) {
    return failed(`${version}, but drift repair requires ${PULUMI_MINIMUM}`, PULUMI_INSTALL);
  }
  if (!isInRange(version, `>=${PULUMI_RECOMMENDED}`)) {
    return warning(`${version}, but an exit code for drift requires ${PULUMI_RECOMMENDED}`, PULUMI_INSTALL);
  }
  return ok(version);
}
