import { codeBlocks } from "../docs/markdown";
import { blocksUntilExit, followPage } from "../pulumi/printed";

const blocks = blocksUntilExit(codeBlocks("docs/tutorial-yaml-python.md"));

test("every command of the tutorial for YAML and Python works, and prints what it shows", async () => {
  expect(blocks.length).toBeGreaterThan(14);
  await followPage(blocks, "first-endpoint");
}, 600_000);
