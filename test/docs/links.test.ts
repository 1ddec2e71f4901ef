import { existsSync } from "node:fs";
import path from "node:path";
import { REPOSITORY } from "../support/sources";
import { anchors, pages, prose } from "./markdown";

/** `[text](target)` and `[text](target "title")`, including images. */
const LINK = /\]\(([^)\s]+)(?: "[^"]*")?\)/g;

function problemOf(page: string, target: string): string | undefined {
  if (/^[a-z]+:/.test(target)) return undefined;
  const [file = "", anchor] = target.split("#");
  const linked = file === "" ? page : path.posix.join(path.posix.dirname(page), file);
  if (!existsSync(path.join(REPOSITORY, linked))) return `there is no ${linked}`;
  if (anchor !== undefined && !anchors(linked).includes(anchor)) return `${linked} has no heading #${anchor}`;
  return undefined;
}

test.each(pages())("the link targets on %s exist", (page) => {
  const targets = [...prose(page).matchAll(LINK)].map(([, target = ""]) => target);
  expect(targets.flatMap((target) => problemOf(page, target) ?? [])).toEqual([]);
});

test("every page of docs/ can be reached from its index", () => {
  const reached = new Set(["docs/README.md"]);
  for (const page of reached) {
    for (const [, target = ""] of prose(page).matchAll(LINK)) {
      const linked = path.posix.join(path.posix.dirname(page), target.split("#")[0] ?? "");
      if (pages().includes(linked)) reached.add(linked);
    }
  }
  expect(pages().filter((page) => page.startsWith("docs/") && !reached.has(page))).toEqual([]);
});

test("a broken link is detected", () => {
  expect(problemOf("docs/README.md", "no-such-page.md")).toBe("there is no docs/no-such-page.md");
  expect(problemOf("docs/README.md", "../README.md#no-such-heading")).toBe("README.md has no heading #no-such-heading");
  expect(problemOf("README.md", "docs/how-it-works.md#what-is-compared")).toBeUndefined();
});
