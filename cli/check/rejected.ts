import { execFileSync } from "node:child_process";
import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../provider/engine/properties";
import { isReleaseField } from "../../provider/rollOut/passed";
import { pulumiJson } from "../pulumiCommand";
import { isEndpoint, nameIn, type StackFlag, stackFlag } from "../stack";
import type { Finding } from "./finding";
import { type Step, typeOf } from "./previewJson";

/** The relevant part of an entry in the engine's history. */
interface PastUpdate {
  readonly kind: string;
  readonly result: string;
  readonly startTime: string;
  readonly environment?: Readonly<Record<string, string>>;
}

const HISTORY_TIMEOUT_MS = 60_000;
const LATEST = ["--json", "--page-size", "20", "--page", "1"];

/**
 * Returns the time of the stack's last `up` if it failed with the commit that is checked out here.
 * Returns `undefined` if it succeeded, ran another program, or is not known.
 */
export async function lastFailedUp(stack: StackFlag): Promise<string | undefined> {
  const args = ["stack", "history", ...LATEST, ...stackFlag(stack)];
  const history = await pulumiJson<readonly PastUpdate[]>(args, process.cwd(), HISTORY_TIMEOUT_MS);
  const last = "value" in history ? history.value.find(({ kind }) => kind === "update") : undefined;
  if (!last || last.result === "succeeded") return undefined;
  const head = git("rev-parse", "HEAD");
  const isSame = head !== undefined && head === last.environment?.["git.head"];
  return isSame && git("status", "--porcelain", "--untracked-files=no") === "" ? last.startTime : undefined;
}

function git(...args: readonly string[]): string | undefined {
  try {
    return execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return undefined;
  }
}

/** The beginning of the error with which an `up` ends whose release failed its test (`rollOut`). */
const FAILED = /the new release of endpoint .*? failed: ([^\n]*)/;

/**
 * Returns a finding for each release that the last `up` has rejected, and that this change tries
 * again. The state shows that of a release that stayed in service.
 * @param failedUp when the last `up` of the same program failed
 */
export function rejectedIn(steps: readonly Step[], failedUp: string | undefined): Finding[] {
  return steps.flatMap(({ urn, oldState, newState, ...step }) => {
    if (!oldState || !newState || !isEndpoint(typeOf({ urn, oldState, newState, ...step }))) return [];
    const { inputs = {} } = newState;
    if (!isObject(inputs.rollOut)) return [];
    const names = Object.keys({ ...oldState.inputs, ...inputs }).filter(isReleaseField);
    const isRelease = names.some((name) => !isDeepStrictEqual(oldState.inputs?.[name] ?? "", inputs[name] ?? ""));
    const [, reason] = FAILED.exec(oldState.initErrors?.join("\n") ?? "") ?? [];
    const found = { level: "rejected", kind: "release-rejected", resource: nameIn(urn), urn } as const;
    if (reason !== undefined && !isRelease) {
      const message = `the last up rejected the release that is in service, and this change does not replace it: ${reason}`;
      return [{ ...found, message }];
    }
    if (failedUp === undefined || !isRelease) return [];
    const message = `the last up of this commit, at ${failedUp}, failed. If the test of the new release failed, this up tries the same release again`;
    return [{ ...found, message }];
  });
}
