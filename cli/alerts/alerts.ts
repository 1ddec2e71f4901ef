import { writeFileSync } from "node:fs";
import { systemReason } from "../../emulator/io/systemReason";
import { say } from "../terminal";
import { dashboardOf } from "./rules/dashboard";
import { rulesFile } from "./rules/rules";

export interface AlertsFlags {
  /** The file to write the rules to. @default standard output */
  readonly out?: string;
  /** The file to write the Grafana dashboard to. @default none */
  readonly dashboard?: string;
  readonly failureShare?: number;
  readonly spendCap?: number;
  readonly stale?: number;
}

/** Writes rules and a dashboard. Returns the exit code. */
export async function alerts({
  out,
  dashboard,
  failureShare = 0.1,
  spendCap,
  stale = 10,
}: AlertsFlags): Promise<number> {
  const rules = rulesFile({ failureShare, spendCap, staleMinutes: stale });
  if (out === undefined) process.stdout.write(rules);
  else writeOut(out, rules);
  if (dashboard !== undefined) writeOut(dashboard, `${JSON.stringify(dashboardOf(), undefined, 2)}\n`);
  return 0;
}

/**
 * Writes a file and reports its name.
 * @throws Error if the file cannot be written
 */
function writeOut(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (cause) {
    throw new Error(`${file} cannot be written: ${systemReason(cause)}`, { cause });
  }
  say(`serverless-gpu alerts: wrote ${file}`);
}
