import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { REPOSITORY } from "../support/sources";

const TYPEDOC = path.join(REPOSITORY, "node_modules/.bin/typedoc");

/** typedoc fails if an export has no doc comment, or if a link is broken. */
test("the reference of all types builds and contains the resources, the client and the emulator", async () => {
  const generated = await mkdtemp(path.join(tmpdir(), "serverless-gpu-reference-"));
  try {
    await promisify(execFile)(TYPEDOC, ["--out", generated], { cwd: REPOSITORY });
    const index = await readFile(path.join(generated, "README.md"), "utf8");
    for (const entry of ["pulumi-serverless-gpu", "pulumi-serverless-gpu/sdk", "pulumi-serverless-gpu/emulator"])
      expect(index).toContain(`[${entry}]`);
    expect(await readFile(path.join(generated, "pulumi-serverless-gpu.md"), "utf8")).toContain("ServerlessEndpoint");
  } finally {
    await rm(generated, { recursive: true, force: true });
  }
}, 300_000);
