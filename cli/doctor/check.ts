import { redact } from "../../sdk/secret";

/** The result of a check. A `failed` check needs a fix; a `skipped` one could not run. */
export type CheckStatus = "ok" | "warning" | "failed" | "skipped";

/** The names of the checks, in order. */
export type CheckName =
  | "node"
  | "pulumi"
  | "pulumi-sdk"
  | "package"
  | "config"
  | "addresses"
  | "api"
  | "key"
  | "names"
  | "clock"
  | "versions"
  | "state";

/** The findings of a check. */
export interface CheckResult {
  readonly status: CheckStatus;
  /** The finding, or the reason for skipping the check. */
  readonly found: string;
  /** The fix; only for warnings and failures. */
  readonly fix?: string;
}

/** A check of `serverless-gpu doctor`, as `--json` prints it. */
export interface Check extends CheckResult {
  readonly check: CheckName;
}

export const ok = (found: string): CheckResult => ({ status: "ok", found });
export const skipped = (found: string): CheckResult => ({ status: "skipped", found });
export const warning = (found: string, fix: string): CheckResult => ({ status: "warning", found, fix });
export const failed = (found: string, fix: string): CheckResult => ({ status: "failed", found, fix });

const WORST_FIRST: readonly CheckStatus[] = ["failed", "warning", "ok", "skipped"];

/** Combines several findings. If there are problems, leaves out the other findings. */
export function together(findings: readonly CheckResult[]): CheckResult {
  const status = WORST_FIRST.find((each) => findings.some((finding) => finding.status === each)) ?? "ok";
  const isWrong = status === "failed" || status === "warning";
  const shown = findings.filter((finding) => (isWrong ? finding.fix !== undefined : finding.status === status));
  const fixes = shown.flatMap(({ fix }) => fix ?? []);
  const found = joined(
    shown.map((finding) => finding.found),
    "; ",
  );
  return { status, found, ...(fixes.length > 0 ? { fix: joined(fixes, " ") } : {}) };
}

function joined(texts: readonly string[], separator: string): string {
  return [...new Set(texts)].join(separator);
}

/** Returns a check with keys redacted, even in other programs' messages. */
export function withoutKeys({ check, status, found, fix }: Check): Check {
  return { check, status, found: redact(found), ...(fix === undefined ? {} : { fix: redact(fix) }) };
}
