import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { REPOSITORY } from "../support/sources";
import { longComments, titlesOf } from "./comments";

/**
 * Strings that no file may contain. They are assembled here, so that this file does not contain
 * them either.
 */
const FORBIDDEN: Record<string, RegExp> = {
  "a path of one machine": new RegExp(`(?<![\\w.~}])/(${["root", "home", "Users", "work"].join("|")})/`),
  "a Windows user's folder": new RegExp(`[A-Z]:\\\\+${"Users"}\\\\`, "i"),
  "the host of a package registry": new RegExp(
    `\\b(${["registry", "npm", "goproxy", "pypi"].join("|")})\\.(?!example\\b)[a-z0-9-]+\\.(com|org|io|net|dev|internal|local)\\b`,
    "i",
  ),
  "a module proxy": new RegExp(`\\b(${["proxy", "sum"].join("|")})\\.golang\\.org`),
  "a real key": new RegExp(`\\b(${["rpa", "ghp", "npm", "pul"].join("|")})[_-][A-Za-z0-9]{24,}`),
};

const files = execFileSync("git", ["ls-files", "-z"], { cwd: REPOSITORY, encoding: "utf8" })
  .split("\0")
  .filter((file) => file !== "" && existsSync(path.join(REPOSITORY, file)));

/** Returns the matching lines of all files, as `file:line`. */
function places(pattern: RegExp): string[] {
  return files.flatMap((file) => {
    const lines = readFileSync(path.join(REPOSITORY, file), "utf8").split("\n");
    return lines.flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}`] : []));
  });
}

test.each(Object.entries(FORBIDDEN))("no file contains %s", (_what, pattern) => {
  expect(files.length).toBeGreaterThan(50);
  expect(places(pattern)).toEqual([]);
});

test("a forbidden string is detected", () => {
  const [machine, windows, registry, proxy, key] = Object.values(FORBIDDEN);
  for (const folder of ["root", "home", "Users", "work"]) expect(`see /${folder}/main`).toMatch(machine as RegExp);
  expect(`C:\\${"Users"}\\me`).toMatch(windows as RegExp);
  expect(`https://${"registry"}.npmjs.org/a`).toMatch(registry as RegExp);
  expect(`https://${"registry"}.example.com/a`).not.toMatch(registry as RegExp);
  expect(`${"proxy"}.golang.org`).toMatch(proxy as RegExp);
  expect(`rpa_${"A1".repeat(14)}`).toMatch(key as RegExp);
  expect("https://host/api/work/1 and ~/root/").not.toMatch(machine as RegExp);
});

const programs = files.filter((file) => /\.[cm]?[jt]s$/.test(file));

describe("comments", () => {
  test("wrap at 100 columns", () => {
    const long = programs.flatMap((file) => longComments(readFileSync(path.join(REPOSITORY, file), "utf8"), file));
    expect(long).toEqual([]);
  });

  test("comments are reported if they are longer, except in strings and examples", () => {
    const long = "word ".repeat(20);
    const comments = `/** ${long} */\n/**\n * ${long}\n * @example\n * ${long}\n */\nlet a;\n  // ${long}\n`;
    expect(longComments(comments, "a.ts")).toEqual(["a.ts:1", "a.ts:3", "a.ts:8"]);
    expect(longComments(`const a = \`\n// ${long}\n\`; // ${long}\n`, "a.ts")).toEqual([]);
  });
});

describe("titles of tests", () => {
  const tests = programs.filter((file) => /\.(test|campaign)\.ts$/.test(file));

  test("stand alone and do not continue the title of their group", () => {
    const titles = tests.flatMap((file) => titlesOf(readFileSync(path.join(REPOSITORY, file), "utf8"), file));
    expect(titles.length).toBeGreaterThan(1_000);
    const continued = titles.filter(({ title }) => /^(\[[^\]]*\] ?)*(of|that|because|whose)\b/.test(title));
    expect(continued.map(({ place, title }) => `${place}: ${title}`)).toEqual([]);
  });
});
