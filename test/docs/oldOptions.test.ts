import { readFileSync } from "node:fs";
import path from "node:path";
import { Command } from "commander";
import { checkCommand } from "../../cli/check/checkCommand";

/** The options that the commands `review` and `rehearse` had. */
const OLD = [
  ..."stack max-per-hour max-at-rest prices strict json markdown creation from-state with-secrets env fault".split(" "),
  ..."load endpoint for duration seeds concurrency cold-start restore throttled ttl execution-timeout".split(" "),
  ..."active-discount free-starts max-p95 max-cost max-lost max-during require-calibration html".split(" "),
];

test("check has every option of the commands that it replaced, and the page lists each", () => {
  const [, table = ""] = readFileSync(path.resolve("docs/how-to/check-changes.md"), "utf8").split(
    "## From the old commands",
  );
  const listed = [...table.matchAll(/--([a-z0-9-]+)/g)].map(([, name]) => name);
  expect(OLD.filter((name) => !listed.includes(name))).toEqual([]);
  const parent = new Command();
  checkCommand.addTo(parent);
  const own = parent.commands[0]?.options.map(({ long }) => long?.slice(2)) ?? [];
  expect(OLD.filter((name) => !own.includes(name))).toEqual([]);
});
