import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { askingNote, filesThatAsk, placeholderAdvice } from "../../../../cli/check/rehearsal/programFiles";

test("the program's own files that ask for isDryRun are named, and packages are not searched", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "program-"));
  for (const each of ["lib", "node_modules/x", ".git"]) mkdirSync(path.join(folder, each), { recursive: true });
  const asks = "if (!pulumi.runtime.isDryRun()) write();";
  const files = { "index.ts": asks, "lib/main.py": "pulumi.runtime.is_dry_run()", "other.ts": "", "readme.md": asks };
  for (const [name, text] of Object.entries({ ...files, "node_modules/x/index.js": asks, ".git/a.js": asks }))
    writeFileSync(path.join(folder, name), text);
  const found = filesThatAsk(folder);
  expect(found.sort()).toEqual(["index.ts", path.join("lib", "main.py")]);
  expect(askingNote(found)).toEqual([expect.stringContaining("index.ts")]);
  expect(askingNote([])).toEqual([]);
});

test.each([
  ["SyntaxError: Unexpected token 'r', \"rehearsal-\"... is not valid JSON", false, true],
  ["json.decoder.JSONDecodeError: Expecting value", false, true],
  ["SyntaxError: Unexpected token 'r'", true, false],
  ["workersMax must be 0 or more", false, false],
])("--with-secrets is suggested only where a placeholder may have broken a parser: %s", (reason, isDecrypted, isGiven) => {
  expect(placeholderAdvice(reason, isDecrypted).includes("--with-secrets")).toBe(isGiven);
});
