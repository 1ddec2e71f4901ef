import path from "node:path";
import { codeBlocks, readPage } from "../docs/markdown";
import { describeClients } from "../support/realClients";
import { follow } from "./reader";
import { openTerminal } from "./terminal";

/**
 * Follows a page to the first block that needs something else, from the top or from a heading.
 * Returns the output of each command block.
 */
async function followPage(page: string, folder: string, count: number, heading?: string): Promise<string[]> {
  const start = heading === undefined ? 0 : readPage(page).split("\n").indexOf(heading) + 1;
  if (heading !== undefined && start === 0) throw new Error(`${page} has no heading ${heading}`);
  const blocks = codeBlocks(page).filter(({ line }) => line > start);
  const terminal = await openTerminal();
  try {
    const printed: string[] = [];
    for (const block of blocks.slice(0, count)) {
      if (block.language === "text") expect(printed.at(-1)).toContain(block.text);
      else printed.push(await follow(terminal, path.join(path.dirname(terminal.folder), folder), block));
    }
    return printed;
  } finally {
    await terminal.close();
  }
}

test("the batch program runs, resumes, and prints what the page shows", async () => {
  const printed = await followPage("docs/how-to/batches.md", "batch", 5);
  expect(printed).toHaveLength(4);
}, 60_000);

test("the openai package calls an endpoint", async () => {
  const printed = await followPage("docs/how-to/use-openai-clients.md", "chat", 4);
  expect(printed.at(-1)).toContain("Once upon a time");
}, 60_000);

describeClients("node", "the service's own client", () => {
  test("the official client calls the emulator", async () => {
    const printed = await followPage("docs/how-to/test-with-the-emulator.md", "official", 4, "## Official clients");
    expect(printed.at(-1)).toContain("{ prompt: 'Hello' }");
  }, 60_000);
});
