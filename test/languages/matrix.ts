import { readFileSync } from "node:fs";
import path from "node:path";
import { REPOSITORY } from "../support/sources";
import { LANGUAGES, type Language } from "./languages";

/** The columns of the table: what is tested in each language. */
export const CHECKS = [
  "up",
  "no change",
  "field diff",
  "drift",
  "explicit provider",
  "secrets",
  "cancel",
  "destroy",
  "import",
] as const;

export type Check = (typeof CHECKS)[number];

/** The page with the table. */
const PAGE = path.join(REPOSITORY, "docs/how-to/other-languages.md");

const passed = new Set<string>();

/** Declares a test, which fills one cell of the table. */
export function cell({ runtime }: Language, check: Check, work: () => Promise<void>): void {
  test(check, async () => {
    await work();
    passed.add(`${runtime} ${check}`);
  });
}

/** Returns the table of the tests that have passed. */
export function table(): string[] {
  const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rows = LANGUAGES.map(({ title, runtime }) =>
    row([title, ...CHECKS.map((check) => (passed.has(`${runtime} ${check}`) ? "✓" : "failed"))]),
  );
  return [row(["", ...CHECKS]), `|${"---|".repeat(CHECKS.length + 1)}`, ...rows];
}

/** Returns the table in the documents. */
export function documentedTable(): string[] {
  const lines = readFileSync(PAGE, "utf8").split("\n");
  const start = lines.findIndex((line) => line.startsWith(`|  | ${CHECKS[0]} |`));
  return start < 0 ? [] : lines.slice(start, start + 2 + LANGUAGES.length);
}
