import { spawnSync } from "node:child_process";
import path from "node:path";
import { ensurePulumi } from "../../tools/pulumi-cli/ensurePulumi";

const REPOSITORY = path.resolve(__dirname, "../..");

test("a user's Jest test starts the emulator, applies a program and makes assertions about the journal", async () => {
  const { binDir } = await ensurePulumi({ log: () => {} });
  const { status, stderr } = spawnSync(path.join(REPOSITORY, "node_modules/.bin/jest"), [], {
    cwd: path.join(REPOSITORY, "examples/emulator-in-tests"),
    env: { PATH: binDir + path.delimiter + process.env.PATH, HOME: process.env.HOME },
    encoding: "utf8",
  });
  expect(stderr).toContain("1 passed, 1 total");
  expect(status).toBe(0);
}, 300_000);
