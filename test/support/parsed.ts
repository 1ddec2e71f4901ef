import { readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { REPOSITORY, sourceFiles } from "./sources";

/** Returns the parsed files of folders, without those whose names a pattern matches. */
export function parsed(folders: string | readonly string[], without = /^$/): ts.SourceFile[] {
  const files = [folders].flat().flatMap(sourceFiles);
  return files.flatMap((file) => {
    if (without.test(file)) return [];
    const text = readFileSync(path.join(REPOSITORY, file), "utf8");
    return ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  });
}

/** Returns what `pick` finds in the nodes of files. */
export function found(files: readonly ts.Node[], pick: (node: ts.Node) => readonly string[]): Set<string> {
  const all = new Set<string>();
  const visit = (node: ts.Node): void => {
    for (const each of pick(node)) all.add(each);
    ts.forEachChild(node, visit);
  };
  for (const file of files) visit(file);
  return all;
}

/** Returns the property that an expression or a pattern reads. */
export function readName(node: ts.Node): string[] {
  if (ts.isPropertyAccessExpression(node)) return [node.name.text];
  if (ts.isBindingElement(node)) return [(node.propertyName ?? node.name).getText()];
  return [];
}

/** Returns the text of a literal. */
export function literal(node: ts.Node): string[] {
  return ts.isStringLiteralLike(node) ? [node.text] : [];
}
