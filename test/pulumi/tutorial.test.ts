import { readFileSync } from "node:fs";
import path from "node:path";
import { blocksFor, codeBlocks } from "../docs/markdown";
import { REPOSITORY } from "../support/sources";
import { blocksUntilExit, followPage, missingLines } from "./printed";

/** Without the program, which `npm run new` writes. */
const blocks = blocksFor("typescript", blocksUntilExit(codeBlocks("docs/tutorial.md"))).filter(
  ({ language, options }) => language !== "ts" || options.length > 0,
);

test("every command of the tutorial works and prints what the tutorial shows", async () => {
  await followPage(blocks, "first-endpoint");
}, 300_000);

test("the check finds a line that was not printed or was printed out of order", () => {
  expect(blocks.length).toBeGreaterThan(10);
  expect(missingLines("a\n…\nc", "a\nb\nc")).toEqual([]);
  expect(missingLines("c\na", "a\nb\nc")).toEqual(["a"]);
  expect(missingLines("created (0.12s)", "created (1s)")).toEqual([]);
  expect(missingLines("2 created", "3 created")).toEqual(["2 created"]);
});

test("the tutorial shows the program of a new project", () => {
  const program = readFileSync(path.join(REPOSITORY, "tools/newProject/programs/typescript/index.ts.txt"), "utf8");
  expect(codeBlocks("docs/tutorial.md").map(({ text }) => `${text}\n`)).toContain(program);
});
