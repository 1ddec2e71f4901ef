import { blocksFor, codeBlocks } from "../docs/markdown";
import { blocksUntilExit, followPage } from "../pulumi/printed";

/** Without the program in TypeScript. */
const blocks = blocksFor("yaml", blocksUntilExit(codeBlocks("docs/tutorial.md"))).filter(
  ({ language }) => language !== "ts",
);

test("every command of the tutorial for YAML and Python works, and prints what it shows", async () => {
  expect(blocks.length).toBeGreaterThan(14);
  await followPage(blocks, "first-endpoint");
}, 600_000);
