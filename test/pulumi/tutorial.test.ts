import path from "node:path";
import { codeBlocks } from "../docs/markdown";
import { follow } from "./reader";
import { openTerminal } from "./terminal";

/** The parts of the output that differ between runs. */
const VARIABLE: [RegExp, string][] = [
  [/127\.0\.0\.1:\d+/g, "<address>"],
  [/\b[a-z0-9]{14}\b/g, "<id>"],
  [/\b[0-9a-f]{16}-\d+/g, "<job>"],
  [/\(\d+(\.\d+)?s\)/g, "(<time>)"],
  [/Time":\d+/g, 'Time":<time>'],
];

function linesOf(text: string): string[] {
  const plain = VARIABLE.reduce((changed, [pattern, name]) => changed.replace(pattern, name), text);
  return plain.split("\n").map((line) => line.trim());
}

/** Returns the lines of the page that were not printed in this order. */
function missingLines(page: string, printed: string): string[] {
  const lines = linesOf(printed);
  let next = 0;
  return linesOf(page).filter((line) => {
    const found = line === "…" ? next - 1 : lines.indexOf(line, next);
    if (found >= 0) next = found + 1;
    return found < 0 && line !== "…";
  });
}

const blocks = codeBlocks("docs/tutorial.md");
/** The heading after which the tutorial needs an account. */
const end = blocks.findIndex(({ text }) => /^exit$/m.test(text)) + 1;

test("every command of the tutorial works, and prints what the tutorial shows", async () => {
  const terminal = await openTerminal();
  try {
    const project = path.join(terminal.folder, "first-endpoint");
    let printed = "";
    for (const block of blocks.slice(0, end)) {
      if (block.language === "text") expect(missingLines(block.text, printed)).toEqual([]);
      else printed = await follow(terminal, project, block);
    }
  } finally {
    await terminal.close();
  }
}, 300_000);

test("a line that was not printed, or in another order, is found", () => {
  expect(end).toBeGreaterThan(10);
  expect(missingLines("a\n…\nc", "a\nb\nc")).toEqual([]);
  expect(missingLines("c\na", "a\nb\nc")).toEqual(["a"]);
  expect(missingLines("created (0.12s)", "created (1s)")).toEqual([]);
  expect(missingLines("2 created", "3 created")).toEqual(["2 created"]);
});
