import { readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { pages, readPage } from "../docs/markdown";
import { REPOSITORY, sourceFiles } from "./sources";

/** A text that users read, and where it comes from. */
export interface Text {
  readonly place: string;
  readonly text: string;
}

/** Stands for a value that a message inserts. */
export const VALUE = "abc123";

/** Returns the value of an expression of strings, with `VALUE` for everything that is computed. */
function textOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map(({ literal }) => VALUE + literal.text).join("");
  if (ts.isParenthesizedExpression(node)) return textOf(node.expression);
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return undefined;
  return (textOf(node.left) ?? VALUE) + (textOf(node.right) ?? VALUE);
}

/** Returns every string in the source, which may be a message. */
export function messages(): Text[] {
  return ["sdk", "provider", "plugin", "emulator", "cli"].flatMap(sourceFiles).flatMap((file) => {
    const source = ts.createSourceFile(
      file,
      readFileSync(path.join(REPOSITORY, file), "utf8"),
      ts.ScriptTarget.Latest,
      true,
    );
    const found: Text[] = [];
    const visit = (node: ts.Node): void => {
      const text = textOf(node);
      if (text === undefined) ts.forEachChild(node, visit);
      else found.push({ place: `${file}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`, text });
    };
    visit(source);
    return found;
  });
}

/** Returns the code of the pages, inline and in blocks for a shell. */
export function pageCode(): Text[] {
  return pages().flatMap((page) => {
    const text = readPage(page).replace(/\\\n/g, " ").replace(/^#.*$/gm, "");
    const blocks = [...text.matchAll(/^```sh.*?\n(.*?)^```$/gms)].flatMap(([, block = ""]) => block.split("\n"));
    const inline = [...text.replace(/^```.*?^```$/gms, "").matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);
    return [...blocks, ...inline].map((code) => ({ place: page, text: code }));
  });
}
