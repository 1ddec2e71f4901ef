import ts from "typescript";
import { prose } from "../docs/markdown";

/** A comment, a message or a document, with the number of its first line. */
export interface Passage {
  readonly line: number;
  readonly text: string;
}

/** Returns all that people read in a file, without code: its comments and messages, or the prose of a document. */
export function passagesOf(file: string, text: string): Passage[] {
  if (/\.m?[jt]s$/.test(file)) return passagesOfProgram(text);
  if (file.endsWith(".md")) return [{ line: 1, text: prose(file) }];
  if (/\.(sh|ya?ml)$/.test(file)) return commentsOfScript(text);
  return [];
}

function passagesOfProgram(text: string): Passage[] {
  const source = ts.createSourceFile("file.ts", text, ts.ScriptTarget.ES2022, true);
  const found = new Map<number, string>();
  const visit = (node: ts.Node): void => {
    const comments = [
      ...(ts.getLeadingCommentRanges(text, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.end) ?? []),
    ];
    for (const { pos, end } of comments) found.set(pos, withoutCode(text.slice(pos, end)));
    if (isMessage(node)) found.set(node.getStart(), node.getText());
    for (const child of node.getChildren()) visit(child);
  };
  visit(source);
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line + 1;
  return [...found].map(([position, passage]) => ({ line: lineAt(position), text: passage }));
}

/** Returns whether a node is a string of more than one word. Single words are names and values. */
function isMessage(node: ts.Node): boolean {
  return (ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node)) && /\s/.test(node.getText().trim());
}

function commentsOfScript(text: string): Passage[] {
  return text.split("\n").flatMap((line, index) => {
    const comment = /(?:^|\s)#(.*)$/.exec(line)?.[1];
    return comment === undefined ? [] : { line: index + 1, text: withoutCode(comment) };
  });
}

function withoutCode(text: string): string {
  return text.replace(/`[^`\n]*`/g, "``");
}
