import path from "node:path";
import ts from "typescript";
import { REPOSITORY } from "../support/sources";

/** A program without a file. Its name is a path from the root of the repository. */
export interface Source {
  readonly file: string;
  readonly text: string;
}

/** The options that users have, and the globals of a test runner. */
const OPTIONS: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  target: ts.ScriptTarget.ES2022,
  lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts"],
  // Supports top-level `await`, and `@pulumi/pulumi/automation` without the name of its file.
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  types: ["node", "jest"],
  typeRoots: [path.join(REPOSITORY, "node_modules/@types")],
};

/**
 * Compiles the programs in one run, independently of each other. Returns the errors as
 * `file:line: message`.
 */
export function problemsOf(sources: readonly Source[]): string[] {
  const texts = new Map(sources.map(({ file, text }) => [path.join(REPOSITORY, file), text]));
  const host = ts.createCompilerHost(OPTIONS);
  const { fileExists, readFile, getSourceFile } = host;
  host.getCurrentDirectory = () => REPOSITORY;
  host.fileExists = (file) => texts.has(file) || fileExists(file);
  host.readFile = (file) => texts.get(file) ?? readFile(file);
  host.getSourceFile = (file, language, ...rest) => {
    const text = texts.get(file);
    return text === undefined ? getSourceFile(file, language, ...rest) : ts.createSourceFile(file, text, language);
  };
  const program = ts.createProgram([...texts.keys()], OPTIONS, host);
  return ts.getPreEmitDiagnostics(program).map(describe);
}

function describe({ file, start = 0, messageText }: ts.Diagnostic): string {
  const message = ts.flattenDiagnosticMessageText(messageText, " ");
  if (!file) return message;
  const { line } = file.getLineAndCharacterOfPosition(start);
  return `${path.relative(REPOSITORY, file.fileName).replaceAll(path.sep, "/")}:${line + 1}: ${message}`;
}
