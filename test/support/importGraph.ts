import { existsSync } from "node:fs";
import path from "node:path";
import { type Import, importsOf as parseImports, REPOSITORY, targetOf } from "./sources";

const parsed = new Map<string, Import[]>();

/** Returns the imports of a file, which is parsed once. */
export function importsOf(file: string): Import[] {
  const imports = parsed.get(file) ?? parseImports(file);
  parsed.set(file, imports);
  return imports;
}

/** Returns the package of a specifier: `@pulumi/pulumi` for `@pulumi/pulumi/runtime`. */
export function packageOf(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

/** Returns the file that an import path without an extension refers to. */
function fileOf(target: string): string {
  return existsSync(path.join(REPOSITORY, `${target}.ts`)) ? `${target}.ts` : `${target}/index.ts`;
}

/** Returns the files that a file imports, types included. */
export function imported(file: string): string[] {
  return importsOf(file).flatMap(({ specifier }) => {
    const target = targetOf(file, specifier);
    return target === undefined || target.endsWith(".json") ? [] : fileOf(target);
  });
}

/** Returns the groups of files that import each other, by Tarjan's algorithm. */
export function circles(files: readonly string[]): string[][] {
  const found: string[][] = [];
  const stack: string[] = [];
  const lowest = new Map<string, number>();
  const visit = (file: string): number => {
    const known = lowest.get(file);
    if (known !== undefined) return known;
    const order = lowest.size;
    const position = stack.push(file) - 1;
    lowest.set(file, order);
    const low = Math.min(order, ...imported(file).map(visit));
    lowest.set(file, low);
    if (low === order) {
      const group = stack.splice(position);
      for (const each of group) lowest.set(each, Number.POSITIVE_INFINITY);
      if (group.length > 1) found.push(group.sort());
    }
    return low;
  };
  for (const file of files) visit(file);
  return found.sort();
}

/** Returns everything that is loaded with a file: files in the repository, and packages. */
export function loadedBy(start: string): { files: Set<string>; packages: Set<string> } {
  const files = new Set([start]);
  const packages = new Set<string>();
  for (const file of files) {
    for (const { specifier, typeOnly } of importsOf(file)) {
      if (typeOnly) continue;
      const target = targetOf(file, specifier);
      if (target === undefined) packages.add(packageOf(specifier));
      else files.add(fileOf(target));
    }
  }
  return { files, packages };
}
