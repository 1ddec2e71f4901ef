import { redact } from "../../sdk/secret";

/** How a check ended: `failed` is to be fixed, `warning` to be known, `skipped` could not be looked at. */
export type CheckStatus = "ok" | "warning" | "failed" | "skipped";

/** What is checked, in this order. */
export type CheckName =
  | "node"
  | "pulumi"
  | "pulumi-sdk"
  | "package"
  | "config"
  | "addresses"
  | "key"
  | "clock"
  | "versions"
  | "state";

/** What a check found. */
export interface Finding {
  readonly status: CheckStatus;
  /** What was found, or why nothing was looked at. */
  readonly found: string;
  /** What to do about it; with warnings and failures. */
  readonly fix?: string;
}

/** A check of `serverless-gpu doctor`, as `--json` prints it. */
export interface Check extends Finding {
  readonly check: CheckName;
}

export const ok = (found: string): Finding => ({ status: "ok", found });
export const skipped = (found: string): Finding => ({ status: "skipped", found });
export const warning = (found: string, fix: string): Finding => ({ status: "warning", found, fix });
export const failed = (found: string, fix: string): Finding => ({ status: "failed", found, fix });

const WORST_FIRST: readonly CheckStatus[] = ["failed", "warning", "ok", "skipped"];

/** Several findings as one. Where something is wrong, what is well is left out. */
export function together(findings: readonly Finding[]): Finding {
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

/** Whatever the texts of others hold, no key is shown. */
export function withoutKeys({ check, status, found, fix }: Check): Check {
  return { check, status, found: redact(found), ...(fix === undefined ? {} : { fix: redact(fix) }) };
}
