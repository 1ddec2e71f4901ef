import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { codeBlocks, readPage } from "../docs/markdown";
import { IS_EVERYWHERE } from "../support/everywhere";
import { REPOSITORY } from "../support/sources";
import { follow } from "./reader";
import { openTerminal } from "./terminal";

/** Without the demo, which has a test of its own, and the program, which `npm run new` writes. */
const blocks = codeBlocks("README.md").filter(
  ({ text, language, options }) => !text.startsWith("npm ci") && (language === "sh" || options.length > 0),
);

const INSTALLED = (["zsh", "bash"] as const).filter((name) => spawnSync(name, ["-c", "true"]).status === 0);
/** The tutorial is pasted into bash. */
const SHELLS = IS_EVERYWHERE ? INSTALLED : INSTALLED.slice(0, 1);

test.each(SHELLS)("the README's commands work when pasted from top to bottom into an interactive %s", async (shell) => {
  expect(blocks.length).toBeGreaterThan(3);
  const terminal = await openTerminal(shell);
  try {
    const project = path.join(path.dirname(terminal.folder), "llama");
    let printed = "";
    for (const block of blocks) printed += await follow(terminal, project, block);
    expect(printed).toContain("{ prompt: 'Hello' }");
    expect(printed).toMatch(/^delay p95 /m);
    expect(printed).toMatch(/Resources:\n +- 4 deleted/);
  } finally {
    await terminal.close();
  }
}, 300_000);

test("the README shows the program of a new project, and its first screen has at most 120 lines", () => {
  const program = readFileSync(path.join(REPOSITORY, "tools/newProject/programs/typescript/index.ts.txt"), "utf8");
  expect(codeBlocks("README.md").map(({ text }) => `${text}\n`)).toContain(program);
  expect(readPage("README.md").trimEnd().split("\n").length).toBeLessThanOrEqual(120);
});
