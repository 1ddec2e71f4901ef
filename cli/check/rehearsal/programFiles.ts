import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

const SOURCES = /\.(?:[cm]?[jt]s|py|go|java|cs)$/;
/** Folders of packages and builds, which are not the program's own. */
const OTHERS = /^(?:\..*|node_modules|vendor|venv|dist|build|bin|obj|target|__pycache__)$/;
const ASKS = /\b(?:isDryRun|is_dry_run|IsDryRun|DryRun)\b/;
const MOST_FILES = 2000;
const LARGEST = 1_000_000;

/** Returns the program's own files that ask whether they run in a preview. */
export function filesThatAsk(folder: string): string[] {
  const files = sourcesIn(folder, "").slice(0, MOST_FILES);
  return files.filter((file) => {
    const each = path.join(folder, file);
    return statSync(each).size <= LARGEST && ASKS.test(readFileSync(each, "utf8"));
  });
}

function sourcesIn(root: string, folder: string): string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(folder, entry.name);
    if (entry.isDirectory()) return OTHERS.test(entry.name) ? [] : sourcesIn(root, name);
    return entry.isFile() && SOURCES.test(entry.name) ? [name] : [];
  });
}

/** Returns the note about such files. */
export function askingNote(files: readonly string[]): string[] {
  if (files.length === 0) return [];
  return [
    `These files skip code in previews (isDryRun): ${files.join(", ")}. A rehearsal is not a preview, so that code has run. ` +
      "Other packages were not searched. To skip code in rehearsals, check whether SERVERLESS_GPU_REHEARSAL_URL is set.",
  ];
}

const BROKEN_PARSER = /unexpected token|not valid JSON|JSONDecodeError|invalid character|rehearsal-placeholder/i;

/** Returns advice if the placeholder of a secret may have broken a parser; otherwise "". */
export function placeholderAdvice(reason: string, isDecrypted: boolean): string {
  if (isDecrypted || !BROKEN_PARSER.test(reason)) return "";
  return ". If the program parses a secret, the placeholder in its place causes this: add --with-secrets if you trust the branch";
}
