import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { REPOSITORY } from "../support/sources";
import { passagesOf } from "./sentences";

/** Strings that no file may contain. They are assembled here, so that this file does not contain them either. */
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

test("a forbidden string would be found", () => {
  const [machine, windows, registry, proxy, key] = Object.values(FORBIDDEN);
  for (const folder of ["root", "home", "Users", "work"]) expect(`see /${folder}/main`).toMatch(machine as RegExp);
  expect(`C:\\${"Users"}\\me`).toMatch(windows as RegExp);
  expect(`https://${"registry"}.npmjs.org/a`).toMatch(registry as RegExp);
  expect(`https://${"registry"}.example.com/a`).not.toMatch(registry as RegExp);
  expect(`${"proxy"}.golang.org`).toMatch(proxy as RegExp);
  expect(`rpa_${"A1".repeat(14)}`).toMatch(key as RegExp);
  expect("https://host/api/work/1 and ~/root/").not.toMatch(machine as RegExp);
});

/**
 * Words to avoid, by the word to use instead. Lookarounds hold the exceptions, such as `addresses` and `<address>` as
 * names in the help of a command.
 */
const WORDS: Record<string, RegExp> = {
  "response, returns": /\banswer(s|ed|ing)?\b(?!-)(?<!-\w+)/i,
  string: /\b(a|another|each|every|no|one) text\b(?! (file|editor|field|block))|\btexts\b/i,
  URL: /(?<!\b(e-?mail|IP|IPv[46]|loopback|remote|network|listening) )\baddress(es)?\b(?!>| {2,}\w)/i,
  fix: /\bmend(s|ed|ing)?\b/i,
  adopt: /\bt(ake|akes|ook|aken|aking) (it |them |\w+ \w+ )?over\b(?! \d)/i,
  "data source, function": /(?<!\bDNS )\blook-?ups?\b/i,
  "undefined if": /[;,:] nothing (if|when)\b/,
  indefinitely: /\bfor ever\b/i,
  "the one that is named": /\bis meant\b/i,
  fails: /\bc(ome|omes|ame|oming) to nothing\b/i,
  "valid but probably a mistake": /\bhardly meant\b/i,
  "passes on": /\bhand(s|ed|ing)? (it |them |the \w+ |\w+ )?on\b/i,
  "no idiom": /\bmuch ado\b|\bfor want of\b|\bat a stretch\b|\bbehind \w+(['’]s)? backs?\b/i,
  "a verb or a noun": /^\/\*\*\s*(\*\s+)?(What|How|Whether)\b/,
  "@default": /^\/\*\*.*[.;(*]\s+Defaults?\b(?! to the)/s,
};

/** Generated files, and this one, whose tests contain the words. */
const NOT_CHECKED = /^docs\/(reference|contributing)\/|^test\/fixtures\/|^test\/project\/texts\.test\.ts$/;

/** Returns the places of all words to avoid, as `file:line: …`. */
function unplain(): string[] {
  return files.flatMap((file) => {
    if (NOT_CHECKED.test(file)) return [];
    return passagesOf(file, readFileSync(path.join(REPOSITORY, file), "utf8")).flatMap(({ line, text }) =>
      Object.entries(WORDS).flatMap(([instead, pattern]) =>
        [...text.matchAll(new RegExp(pattern, `${pattern.flags}g`))].map(({ 0: words, index }) => {
          const at = line + text.slice(0, index).split("\n").length - 1;
          return `${file}:${at}: "${words.replaceAll(/\s+/g, " ").trim()}" (${instead})`;
        }),
      ),
    );
  });
}

describe("plain English", () => {
  test("is used in comments, messages and documents", () => {
    expect(unplain()).toEqual([]);
  });

  test.each([
    ["a.ts", "/** The answer. */", 1],
    ["a.ts", "\nconst a = `The answer`;", 2],
    ["a.ts", "/**\n * Whether it is.\n */", 1],
    ["a.ts", "// All texts.\n", 1],
    ["a.sh", "echo answer\ntrue # mends it", 2],
  ])("is checked in %s: %j", (file, text, line) => {
    const found = passagesOf(file, text).filter((each) => Object.values(WORDS).some((word) => word.test(each.text)));
    expect(found.map((each) => each.line)).toEqual([line]);
  });

  test.each([
    "const answer = `x`;",
    'const a = "text/html";',
    "/** An IP address. */",
    "const a = `--host <address>`;",
    "const a = `addresses    all URLs`;",
    "/** The `answer` of a chat. */",
  ])("allows %s", (text) => {
    const found = passagesOf("a.ts", text).filter((each) => Object.values(WORDS).some((word) => word.test(each.text)));
    expect(found).toEqual([]);
  });
});
