import { writeFileSync } from "node:fs";
import { systemReason } from "../../emulator/io/systemReason";
import { redact } from "../../sdk/errors/secretText";
import type { StackFlag } from "../stack";
import { say } from "../terminal";
import { dashboardOf } from "./rules/dashboard";
import type { RuleOptions } from "./rules/rules";
import { rulesFile } from "./rules/rulesFile";
import { stackSettings } from "./stackSettings";

export interface AlertsFlags {
  /** The stack's name; `true` for the selected stack. @default the selected stack */
  readonly stack?: StackFlag;
  /** The file to write the rules to. @default standard output */
  readonly out?: string;
  /** The file to write the Grafana dashboard to. @default none */
  readonly dashboard?: string;
  readonly failureShare?: number;
  readonly spendCap?: number;
  readonly stale?: number;
}

/** Writes rules and a dashboard. Returns the exit code. */
export async function alerts(flags: AlertsFlags): Promise<number> {
  const endpoints = await stackSettings(flags.stack);
  const rules = rulesFile(endpoints, ruleOptions(flags));
  if (flags.out === undefined) process.stdout.write(redact(rules));
  else writeOut(flags.out, rules);
  if (flags.dashboard !== undefined) writeOut(flags.dashboard, `${JSON.stringify(dashboardOf(), undefined, 2)}\n`);
  return 0;
}

/** Converts the command's flags into rule options. */
export function ruleOptions({ failureShare = 0.1, spendCap, stale = 10 }: AlertsFlags): RuleOptions {
  return { failureShare, spendCap, staleMinutes: stale };
}

/**
 * Writes a file and reports its name.
 * @throws Error if the file cannot be written
 */
export function writeOut(file: string, text: string): void {
  try {
    writeFileSync(file, redact(text));
  } catch (cause) {
    throw new Error(`${file} cannot be written: ${systemReason(cause)}`, { cause });
  }
  say(`serverless-gpu alerts: wrote ${file}`);
}
