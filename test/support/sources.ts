import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

export const REPOSITORY = path.resolve(__dirname, "../..");

/** One place where a file names another module. */
export interface Import {
  /** The specifier as written: `../sdk/contract/clock`, `node:fs`, `@pulumi/pulumi`. */
  readonly specifier: string;
  /** `true` if the compiler removes it: `import type`, `export type`, `typeof import("…")`. */
  readonly typeOnly: boolean;
}

/** The TypeScript files of a folder of the repository, as paths from its root, with `/`. */
export function sourceFiles(folder: string): string[] {
  const found = readdirSync(path.join(REPOSITORY, folder), { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => path.relative(REPOSITORY, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, "/"));
}

export function importsOf(file: string): Import[] {
  return importsIn(readFileSync(path.join(REPOSITORY, file), "utf8"));
}

/** Returns every import in a TypeScript text, in any notation. */
export function importsIn(text: string): Import[] {
  const found: Import[] = [];
  const add = (specifier: ts.Node | undefined, typeOnly: boolean) => {
    if (specifier && ts.isStringLiteralLike(specifier)) found.push({ specifier: specifier.text, typeOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeOnlyImport(node));
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, isTypeOnlyExport(node));
    else if (ts.isImportEqualsDeclaration(node) && ts.isExternalModuleReference(node.moduleReference)) {
      add(node.moduleReference.expression, node.isTypeOnly);
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, true);
    else if (ts.isCallExpression(node) && loadsModule(node.expression)) add(node.arguments[0], false);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("file.ts", text, ts.ScriptTarget.ES2022, true));
  return found;
}

function isTypeOnlyImport({ importClause }: ts.ImportDeclaration): boolean {
  if (!importClause) return false;
  if (importClause.isTypeOnly) return true;
  const { name, namedBindings } = importClause;
  return !name && !!namedBindings && ts.isNamedImports(namedBindings) && areTypes(namedBindings.elements);
}

function isTypeOnlyExport({ isTypeOnly, exportClause }: ts.ExportDeclaration): boolean {
  return isTypeOnly || (!!exportClause && ts.isNamedExports(exportClause) && areTypes(exportClause.elements));
}

function areTypes(elements: readonly { readonly isTypeOnly: boolean }[]): boolean {
  return elements.length > 0 && elements.every((element) => element.isTypeOnly);
}

/** `import(…)`, `require(…)`, `require.resolve(…)` and `x.require(…)`. */
function loadsModule(expression: ts.Expression): boolean {
  if (expression.kind === ts.SyntaxKind.ImportKeyword) return true;
  return /(^|\.)require(\.resolve)?$/.test(expression.getText());
}

/**
 * Returns the file in the repository that a relative import refers to, without its extension, or
 * `undefined` for a package.
 */
export function targetOf(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  return path.posix.join(path.posix.dirname(file), specifier).replace(/\.(ts|js)$/, "");
}
