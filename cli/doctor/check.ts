import { redact } from "../../sdk/errors/secretText";

/** The result of a check. `failed` needs a fix; `skipped` means that the check could not run. */
type CheckStatus = "ok" | "warning" | "failed" | "skipped";

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
  | "account"
  | "names"
  | "clock"
  | "versions"
  | "state";

export interface CheckResult {
  readonly status: CheckStatus;
  /** What the check found, or why it was skipped. */
  readonly found: string;
  /** How to fix the problem, one line for each. Only set for warnings and failures. */
  readonly fix?: string;
}

/** A check of `serverless-gpu doctor`, in the form that `--json` prints. */
export interface Check extends CheckResult {
  readonly check: CheckName;
}

export const ok = (found: string): CheckResult => ({ status: "ok", found });
export const skipped = (found: string): CheckResult => ({ status: "skipped", found });
export const warning = (found: string, fix: string): CheckResult => ({ status: "warning", found, fix });
export const failed = (found: string, fix: string): CheckResult => ({ status: "failed", found, fix });

const WORST_FIRST: readonly CheckStatus[] = ["failed", "warning", "ok", "skipped"];

/** Merges several findings into one. If any of them is a problem, only the problems are kept. */
export function together(findings: readonly CheckResult[]): CheckResult {
  const status = WORST_FIRST.find((each) => findings.some((finding) => finding.status === each)) ?? "ok";
  const isWrong = status === "failed" || status === "warning";
  const shown = findings.filter((finding) => (isWrong ? finding.fix !== undefined : finding.status === status));
  const fixes = shown.flatMap(({ fix }) => fix ?? []);
  const found = joined(
    shown.map((finding) => finding.found),
    "; ",
  );
  return { status, found, ...(fixes.length > 0 ? { fix: joined(fixes, "\n") } : {}) };
}

function joined(texts: readonly string[], separator: string): string {
  return [...new Set(texts)].join(separator);
}

/** Redacts keys in a check, including those in messages of other programs. */
export function withoutKeys({ check, status, found, fix }: Check): Check {
  return { check, status, found: redact(found), ...(fix === undefined ? {} : { fix: redact(fix) }) };
}
