import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { REPOSITORY } from "../support/sources";

const TYPEDOC = path.join(REPOSITORY, "node_modules/.bin/typedoc");

/** Every file of a folder with its text, by its path in the folder. */
async function textsIn(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  const texts = files.map(async (file) => [path.relative(folder, file), await readFile(file, "utf8")]);
  return Object.fromEntries(await Promise.all(texts));
}

/** typedoc itself fails when something that is exported has no doc comment, or when a link leads nowhere. */
test('docs/reference is what "npm run docs:reference" writes', async () => {
  const generated = await mkdtemp(path.join(tmpdir(), "serverless-gpu-reference-"));
  try {
    await promisify(execFile)(TYPEDOC, ["--out", generated], { cwd: REPOSITORY });
    expect(await textsIn(generated)).toEqual(await textsIn(path.join(REPOSITORY, "docs/reference")));
  } finally {
    await rm(generated, { recursive: true, force: true });
  }
}, 300_000);
