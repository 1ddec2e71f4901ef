import { declareCommand } from "../declareCommand";
import { parseInstant } from "../parseInstant";
import type { ScheduleFlags } from "./schedule";

export const scheduleCommand = declareCommand({
  name: "schedule",
  summary: "List when schedules change worker counts",
  description:
    "Reads the JSON of a preview, and lists when the schedules of its endpoints change worker counts. It needs no key and reads no service.",
  argument: ["[preview.json]", "the output of pulumi preview --json --show-sames (default: standard input)"],
  options: (command) =>
    command
      .option(
        "--from <time>",
        "the first instant, such as 2026-12-01 (UTC) or 2026-12-01T08:00+01:00 (default: now)",
        parseInstant,
      )
      .option("--to <time>", "the end, in the same format (default: 31 days after the first instant)", parseInstant)
      .option("--json", 'print JSON: [{"at", "endpoint", "workersMin", "workersMax", "cron"}]'),
  examples: [
    "pulumi preview --json --show-sames | npx pulumi-serverless-gpu schedule",
    "npx pulumi-serverless-gpu schedule preview.json --from 2026-12-01",
  ],
  problem: ({ from = Date.now(), to = Infinity }: ScheduleFlags) =>
    to > from ? undefined : "option '--to' must be later than '--from'",
  load: () => require("./schedule") as typeof import("./schedule"),
  run: ({ schedule }, flags: ScheduleFlags, [file]) => schedule(file, flags),
});
