import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { REPOSITORY } from "../support/sources";

const TYPEDOC = path.join(REPOSITORY, "node_modules/.bin/typedoc");

/** Returns the contents of all files in a folder, by their path in the folder. */
async function textsIn(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  const texts = files.map(async (file) => [path.relative(folder, file), await readFile(file, "utf8")]);
  return Object.fromEntries(await Promise.all(texts));
}

/** typedoc fails if an export has no doc comment, or if a link is broken. */
test('docs/reference is what "npm run docs:reference" writes', async () => {
  const generated = await mkdtemp(path.join(tmpdir(), "serverless-gpu-reference-"));
  try {
    await promisify(execFile)(TYPEDOC, ["--out", generated], { cwd: REPOSITORY });
    expect(await textsIn(generated)).toEqual(await textsIn(path.join(REPOSITORY, "docs/reference")));
  } finally {
    await rm(generated, { recursive: true, force: true });
  }
}, 300_000);
