import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { REPOSITORY } from "../support/sources";

/** A fenced code block of a page. */
export interface CodeBlock {
  /** The path of the page from the root of the repository. */
  readonly page: string;
  /** The line number of its first line in the page, from 1. */
  readonly line: number;
  /** The first word after the fence, and the others: `ts` and `["title=index.ts"]`. */
  readonly language: string;
  readonly options: readonly string[];
  readonly text: string;
}

/** Pages that tools generate from the source. They have their own tests. */
const GENERATED = /^docs\/reference\//;

/** Pages whose examples come from the plugin's schema: test/languages runs them. */
const FROM_SCHEMA = /^docs\/resources\//;

/** Returns the pages that people write: in the root, and in docs/. */
export function pages(): string[] {
  const inDocs = readdirSync(path.join(REPOSITORY, "docs"), { recursive: true, encoding: "utf8" })
    .map((name) => `docs/${name.replaceAll(path.sep, "/")}`)
    .filter((name) => name.endsWith(".md") && !GENERATED.test(name));
  return [...readdirSync(REPOSITORY).filter((name) => name.endsWith(".md")), ...inDocs].sort();
}

/** Returns every Markdown file of the repository, generated ones and those of examples included. */
export function markdownFiles(): string[] {
  const names = execFileSync("git", ["ls-files", "-z", "*.md"], { cwd: REPOSITORY, encoding: "utf8" });
  return names.split("\0").filter((name) => name !== "");
}

export function readPage(page: string): string {
  return readFileSync(path.join(REPOSITORY, page), "utf8");
}

const FENCE = /^( *)(`{3,}|~{3,})(.*)$/;

/** Returns the code blocks of a page, in order; none of a page whose examples the schema has. */
export function codeBlocks(page: string): CodeBlock[] {
  if (FROM_SCHEMA.test(page)) return [];
  const blocks: CodeBlock[] = [];
  let open: { fence: string; line: number; info: string; lines: string[] } | undefined;
  for (const [index, text] of readPage(page).split("\n").entries()) {
    const [, , fence = "", info = ""] = FENCE.exec(text) ?? [];
    if (open === undefined) {
      if (fence) open = { fence, line: index + 2, info, lines: [] };
    } else if (fence.startsWith(open.fence) && info.trim() === "") {
      const [language = "", ...options] = open.info.trim().split(/\s+/);
      blocks.push({ page, line: open.line, language, options, text: open.lines.join("\n") });
      open = undefined;
    } else open.lines.push(text);
  }
  if (open) throw new Error(`${page}:${open.line - 1} opens a block without an end`);
  return blocks;
}

/**
 * Returns the blocks that a reader follows who has chosen a language: those with `for=` and that
 * language, and those without `for=`.
 */
export function blocksFor(language: string, blocks: readonly CodeBlock[]): CodeBlock[] {
  return blocks.filter(({ options }) => {
    const chosen = options.find((option) => option.startsWith("for="));
    return chosen === undefined || chosen === `for=${language}`;
  });
}

/** Returns the page without code blocks and inline code. */
export function prose(page: string): string {
  const lines = readPage(page).split("\n");
  for (const { line, text } of codeBlocks(page)) {
    const count = text.split("\n").length;
    for (let index = line - 2; index <= line - 1 + count; index++) lines[index] = "";
  }
  return lines.join("\n").replace(/`[^`\n]*`/g, "");
}

/** Returns the anchors of a page's headings, by GitHub's rule. */
export function anchors(page: string): string[] {
  const seen = new Map<string, number>();
  const blockLines = new Set(
    codeBlocks(page).flatMap(({ line, text }) => text.split("\n").map((_, index) => line + index)),
  );
  return readPage(page)
    .split("\n")
    .filter((text, index) => /^#{1,6} /.test(text) && !blockLines.has(index + 1))
    .map((heading) => {
      const words = heading.replace(/^#+ /, "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");
      const slug = words
        .toLowerCase()
        .replace(/[^\p{Letter}\p{Number}\s_-]/gu, "")
        .replaceAll(" ", "-");
      const count = seen.get(slug) ?? 0;
      seen.set(slug, count + 1);
      return count === 0 ? slug : `${slug}-${count}`;
    });
}
