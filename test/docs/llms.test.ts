import { readFileSync } from "node:fs";
import path from "node:path";
import { REPOSITORY } from "../support/sources";
import { pages } from "./markdown";

test("llms.txt contains one line for each page", () => {
  const text = readFileSync(path.join(REPOSITORY, "llms.txt"), "utf8");
  const listed = Array.from(text.matchAll(/^- \[.+\]\((.+)\): .+$/gm), ([, page]) => page);
  expect(listed.sort()).toEqual([...pages(), "bench/README.md"].sort());
});
