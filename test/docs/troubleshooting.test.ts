import { readFileSync } from "node:fs";
import path from "node:path";
import { REPOSITORY, sourceFiles } from "../support/sources";
import { readPage } from "./markdown";

/** The messages in the headings. A heading may have several. */
const headings = [...readPage("docs/troubleshooting.md").matchAll(/^### `(.*)`$/gm)].flatMap(([, messages = ""]) =>
  messages.split("`, `"),
);

test("every message on the page exists in the package", () => {
  expect(headings.length).toBeGreaterThan(8);
  // Long messages are written as several strings, joined by +.
  const code = ["sdk", "provider", "cli"]
    .flatMap(sourceFiles)
    .map((file) => readFileSync(path.join(REPOSITORY, file), "utf8").replace(/["`] \+\s+["`]/g, ""))
    .join("\n");
  const parts = headings.flatMap((message) => message.split("…").map((part) => part.trim()));
  expect(parts.filter((part) => part !== "" && !code.includes(part))).toEqual([]);
});
