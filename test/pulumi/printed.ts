import path from "node:path";
import type { CodeBlock } from "../docs/markdown";
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
export function missingLines(page: string, printed: string): string[] {
  const lines = linesOf(printed);
  let next = 0;
  return linesOf(page).filter((line) => {
    const found = line === "…" ? next - 1 : lines.indexOf(line, next);
    if (found >= 0) next = found + 1;
    return found < 0 && line !== "…";
  });
}

/**
 * Follows the blocks of a page in a new terminal, as a reader does.
 * @param name the folder that the page makes for its project
 * @throws if a command fails, or does not print the lines that the page shows
 */
export async function followPage(blocks: readonly CodeBlock[], name: string): Promise<void> {
  const terminal = await openTerminal();
  try {
    const project = path.join(path.dirname(terminal.folder), name);
    let printed = "";
    for (const block of blocks) {
      if (block.language === "text") expect(missingLines(block.text, printed)).toEqual([]);
      else printed = await follow(terminal, project, block);
    }
  } finally {
    await terminal.close();
  }
}

/** Returns the blocks of a page up to the one that leaves the emulator's shell. */
export function blocksUntilExit(blocks: readonly CodeBlock[]): CodeBlock[] {
  return blocks.slice(0, blocks.findIndex(({ text }) => /^exit$/m.test(text)) + 1);
}
