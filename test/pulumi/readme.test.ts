import path from "node:path";
import { codeBlocks } from "../docs/markdown";
import { follow } from "./reader";
import { openTerminal } from "./terminal";

/** Without the demo, which has a test of its own, and the commands that need an account. */
const blocks = codeBlocks("README.md").filter(
  ({ text, options }) => !text.startsWith("npm ci") && !options.includes("no-account"),
);

test("the README works, pasted from top to bottom", async () => {
  expect(blocks.length).toBeGreaterThan(6);
  const terminal = await openTerminal();
  try {
    const project = path.join(path.dirname(terminal.folder), "llama");
    let printed = "";
    for (const block of blocks) printed += await follow(terminal, project, block);
    expect(printed).toContain("{ prompt: 'Hello' }");
    expect(printed).toMatch(/Resources:\n +- 3 deleted/);
  } finally {
    await terminal.close();
  }
}, 300_000);
