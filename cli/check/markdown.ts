import { visible } from "../../sdk/errors/visible";

const ESCAPED: Readonly<Record<string, string>> = {
  "<": "&lt;",
  ">": "&gt;",
  // GitHub looks for names and numbers after it has read escapes, but not across a comment.
  "@": "@<!-- -->",
  "#": "#<!-- -->",
};

/** Escapes Markdown syntax and mentions, and keeps a table cell on one line. */
export function escapedMarkdown(text: string): string {
  return visible(text.replace(/\s+/g, " ")).replace(
    /[\\`*_{}[\]<>#|~@]/g,
    (character) => ESCAPED[character] ?? `\\${character}`,
  );
}

/** Returns as many lines as fit into this many characters, and the number of lines that do not. */
export function within(lines: readonly string[], longest: number): { shown: string[]; left: number } {
  let length = 0;
  const end = lines.findIndex((line) => {
    length += line.length + 1;
    return length > longest;
  });
  const shown = end === -1 ? [...lines] : lines.slice(0, end);
  return { shown, left: lines.length - shown.length };
}

/** The maximum length of a list, because a comment on GitHub has at most 65,536 characters. */
const LONGEST = 6_000;

/** Returns a list with a title; nothing if it is empty. */
export function markdownList(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const { shown, left } = within(
    lines.map((line) => `- ${escapedMarkdown(line)}`),
    LONGEST,
  );
  return [`**${title}**`, "", ...shown, ...(left > 0 ? [`- and ${left} more`] : []), ""];
}
