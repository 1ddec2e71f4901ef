import { chmod, writeFile } from "node:fs/promises";
import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { createStack, type PulumiStack } from "./harness";

/** What a CI does on a push: check out what came and call the step for its branch. */
const POST_RECEIVE = `#!/usr/bin/env bash
set -euo pipefail
while read -r _old new ref; do
  git --work-tree="$CHECKOUT" checkout --force --quiet "$new"
  cd "$CHECKOUT"
  if [ "$ref" = refs/heads/main ]; then ./pipeline.sh up; else ./pipeline.sh preview; fi
done
`;

let emulator: Emulator;
let stack: PulumiStack;
let clone: string;
let checkout: string;

async function git(...args: string[]) {
  const identity = { NAME: "Dev", EMAIL: "dev@example.com" };
  const env = {
    CHECKOUT: checkout,
    STACK: "production",
    ...Object.fromEntries(
      Object.entries(identity).flatMap(([key, value]) =>
        [`GIT_AUTHOR_${key}`, `GIT_COMMITTER_${key}`].map((k) => [k, value]),
      ),
    ),
  };
  const result = await stack.exec("git", args, { cwd: clone, env });
  if (result.exitCode !== 0) throw new Error(`git ${args.join(" ")} failed:\n${result.output}`);
  return result.output;
}

function pipeline(step: string, env: Record<string, string> = {}) {
  return stack.exec("./pipeline.sh", [step], { cwd: checkout, env: { STACK: "production", ...env } });
}

beforeAll(async () => {
  emulator = await startEmulator({ drainMs: 200 });
  stack = await createStack({ folder: "examples/gitops", env: emulator.env });
  clone = stack.folder;
  checkout = path.join(stack.scratch, "checkout");
  const origin = path.join(stack.scratch, "origin.git");
  await stack.exec("mkdir", [checkout]);
  await git("init", "--quiet", "--bare", origin);
  const hook = path.join(origin, "hooks", "post-receive");
  await writeFile(hook, POST_RECEIVE);
  await chmod(hook, 0o755);
  await git("init", "--quiet", "--initial-branch=main");
  await git("remote", "add", "origin", origin);
  await git("add", "Pulumi.yaml", "index.ts", "package.json", "pipeline.sh");
  await git("commit", "--quiet", "--message", "Deploy an endpoint");
});

afterAll(() => emulator.stop());

test("a push to main applies the program", async () => {
  expect(await git("push", "--quiet", "origin", "main")).toContain("+ 2 created");
  expect(emulator.endpoints.list()).toMatchObject([{ gpuIds: "AMPERE_16,AMPERE_24", workersMax: 2 }]);
});

test("a push of a change previews it; its merge applies it", async () => {
  await git("checkout", "--quiet", "-b", "more-workers");
  await stack.exec("sed", ["-i", "s/workersMax: 2/workersMax: 3/", "index.ts"]);
  await git("commit", "--quiet", "--all", "--message", "Allow three workers");
  expect(await git("push", "--quiet", "origin", "more-workers")).toMatch(/~ workersMax: 2 => 3/);
  expect(emulator.endpoints.list()).toMatchObject([{ workersMax: 2 }]);

  await git("checkout", "--quiet", "main");
  await git("merge", "--quiet", "more-workers");
  expect(await git("push", "--quiet", "origin", "main")).toContain("~ 1 updated");
  expect(emulator.endpoints.list()).toMatchObject([{ workersMax: 3 }]);
});

test("drift detection passes without drift and exits with 7 on drift", async () => {
  expect((await pipeline("drift")).exitCode).toBe(0);
  const [endpoint] = emulator.endpoints.list();
  emulator.endpoints.change(endpoint?.id ?? "", { workersMax: 1 });
  const drift = await pipeline("drift");
  expect(drift.exitCode).toBe(7);
  expect(drift.output).toMatch(/~ workersMax: 3 => 1/);
});

test("destroy leaves nothing, and an unknown step is refused", async () => {
  expect((await pipeline("destory")).output).toContain('there is no step "destory"');
  expect((await pipeline("destroy")).exitCode).toBe(0);
  expect(emulator.endpoints.list()).toEqual([]);
});
