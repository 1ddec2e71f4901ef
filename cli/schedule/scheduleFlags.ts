import type { Command } from "commander";

export interface ScheduleFlags {
  readonly from?: string;
  readonly to?: string;
  readonly json?: boolean;
}

export function addScheduleFlags(command: Command): Command {
  return command
    .summary("List when schedules change worker counts")
    .description(
      "Reads the JSON of pulumi preview and lists when the schedules of its endpoints change worker counts. It needs no key and " +
        "reads no service.",
    )
    .argument("[file]", "the output of pulumi preview --json --show-sames (default: stdin)")
    .option("--from <time>", "the first instant, such as 2026-12-01 (UTC) or 2026-12-01T08:00+01:00 (default: now)")
    .option("--to <time>", "the end, in the same format (default: 31 days after the first instant)")
    .option("--json", 'print JSON: [{"at", "endpoint", "workersMin", "workersMax", "cron"}]')
    .addHelpText(
      "after",
      `
Examples:
  pulumi preview --json --show-sames | npx pulumi-serverless-gpu schedule
  npx pulumi-serverless-gpu schedule preview.json --from 2026-12-01 --to 2027-01-01

Exit codes:
  0  success
  1  failure; the message gives the reason
  2  wrong usage: an unknown option`,
    );
}
