import { codeBlocks } from "../docs/markdown";
import { blocksUntilExit, followPage, missingLines } from "./printed";

const blocks = blocksUntilExit(codeBlocks("docs/tutorial.md"));

test("every command of the tutorial works, and prints what the tutorial shows", async () => {
  await followPage(blocks, "first-endpoint");
}, 300_000);

test("finds a line that was not printed, or that was printed out of order", () => {
  expect(blocks.length).toBeGreaterThan(10);
  expect(missingLines("a\n…\nc", "a\nb\nc")).toEqual([]);
  expect(missingLines("c\na", "a\nb\nc")).toEqual(["a"]);
  expect(missingLines("created (0.12s)", "created (1s)")).toEqual([]);
  expect(missingLines("2 created", "3 created")).toEqual(["2 created"]);
});
