import { cp, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { crash } from "../faults/crash";
import { createStack, type PulumiStack } from "./harness";

// The steps of pipeline.sh, each in a new checkout, as on a new runner.

/** The example's program without TypeScript, which takes half a second in each run. */
const PROGRAM = `const { ServerlessEndpoint, ServerlessTemplate } = require("pulumi-serverless-gpu");
const whisper = new ServerlessEndpoint("whisper", {
  templateId: "whisper-template",
  gpuIds: ["AMPERE_16", "AMPERE_24"],
  workersMax: 2,
});
`;
const PLAN = "plan/plan.json";
const CLI = path.resolve(__dirname, "../../dist/cli/main.js");

let emulator: Emulator;
let stack: PulumiStack;

beforeEach(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0 });
  stack = await createStack({ folder: "examples/gitops", env: emulator.env });
  for (const name of ["Pulumi.dev.yaml", "index.ts"]) await rm(path.join(stack.folder, name));
  await stack.writeFile("index.js", PROGRAM);
  const project = await readFile(path.join(stack.folder, "Pulumi.yaml"), "utf8");
  const runtime = "runtime:\n  name: nodejs\n  options:\n    typescript: false\n";
  await stack.writeFile("Pulumi.yaml", project.replace("runtime: nodejs\n", runtime));
});
afterEach(async () => {
  await stack.dispose();
  await emulator.stop();
});

/** Creates stacks and their endpoints, as earlier pipelines did. */
async function deployed(...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await stack.succeed(["stack", "init", name]);
    await stack.up();
  }
}

/** Runs a step in a new checkout of the repository. `before` has its folder. */
async function step(
  name: string,
  env: Readonly<Record<string, string>> = {},
  before: (checkout: string) => Promise<unknown> = async () => {},
) {
  const cwd = path.join(stack.scratch, "checkout");
  await rm(cwd, { recursive: true, force: true });
  await cp(stack.folder, cwd, { recursive: true });
  await before(cwd);
  return stack.exec("bash", ["./pipeline.sh", name], { cwd, env: { STACK: "production", ...env } });
}

/** Previews in one checkout, keeps the plan as an artifact, and applies it in another one. */
async function previewAndApply() {
  const artifact = path.join(stack.scratch, "artifact");
  const preview = await step("preview", { PLAN });
  if (preview.exitCode !== 0) return { preview, up: undefined };
  await cp(path.join(stack.scratch, "checkout/plan"), artifact, { recursive: true });
  const up = await step("up", { PLAN }, (checkout) => cp(artifact, path.join(checkout, "plan"), { recursive: true }));
  return { preview, up };
}

async function replaceInProgram(text: string, by: string): Promise<void> {
  const file = path.join(stack.folder, "index.js");
  await writeFile(file, (await readFile(file, "utf8")).replace(text, by));
}

const workersMax = () => emulator.endpoints.list().map((each) => each.workersMax);

test("a plan with a secret is applied from another checkout if the stack's file is committed; otherwise the preview reports that", async () => {
  const template = 'new ServerlessTemplate("worker", { imageName: "app:1", env: { HF_TOKEN: "canary-of-the-plan" } });';
  await stack.writeProgram(PROGRAM + template);
  const { preview: refused } = await previewAndApply();
  expect(refused).toMatchObject({
    exitCode: 1,
    output: expect.stringMatching(/Pulumi\.production\.yaml is not in the repository, so no plan was kept/),
  });
  const advised = /machine, .*: (STACK=production \.\/pipeline\.sh preview)/.exec(refused.output)?.[1] ?? "";

  // The advice, in the developer's folder: what it leaves there is committed.
  expect(await stack.exec("bash", ["-c", advised])).toMatchObject({ exitCode: 0 });
  expect(await readFile(path.join(stack.folder, "Pulumi.production.yaml"), "utf8")).toContain("encryptionsalt");
  const { preview, up } = await previewAndApply();
  expect(preview.exitCode).toBe(0);
  expect(up).toMatchObject({ exitCode: 0, output: expect.stringContaining("created") });
  expect(workersMax()).toEqual([2]);
  for (const [name, text] of await stack.files())
    if (!name.endsWith("index.js")) expect([name, text.includes("canary-of-the-plan")]).toEqual([name, false]);
});

test("an `up` from another machine reads the changes of a killed update, even if its program has been reverted", async () => {
  await deployed("production");
  await replaceInProgram("workersMax: 2", "workersMax: 4");
  await killUpdate();
  await replaceInProgram("workersMax: 4", "workersMax: 2");
  expect(workersMax()).toEqual([4]);
  expect(await doctorsFix(/updating urn:\S+::whisper/)).toContain("pulumi up --refresh");

  // Nothing would change, says Pulumi's preview: neither it nor the plan knows of the update.
  const { preview, up: refused } = await previewAndApply();
  expect(preview).toMatchObject({
    exitCode: 0,
    output: expect.stringMatching(/updating urn:\S+::whisper\n.*step repair/),
  });
  expect(refused).toMatchObject({ exitCode: 1, output: expect.stringContaining("Nothing was applied") });
  expect(workersMax()).toEqual([4]);

  const up = await step("up");
  expect(up).toMatchObject({
    exitCode: 0,
    output: expect.stringMatching(/up --refresh\):\nupdating urn:\S+::whisper/),
  });
  expect(workersMax()).toEqual([2]);
  expect((await step("up")).output).not.toContain("--refresh");
  expect((await doctorOnState()).status).toBe("ok");
});

test("an unattended repair is refused after a failed or killed `up` of its commit; a repair by hand and drift are not", async () => {
  const commit = async (message: string) => {
    for (const args of [
      ["init", "--quiet"],
      ["add", "."],
      [...IDENTITY, "commit", "--quiet", "--message", message],
    ])
      expect(await stack.exec("git", args)).toMatchObject({ exitCode: 0 });
  };
  const drift = () => {
    const [{ id = "" } = {}] = emulator.endpoints.list();
    emulator.endpoints.change(id, { workersMax: 1 });
  };
  await commit("Deploy");
  await deployed("production");
  drift();
  expect(await step("auto-repair")).toMatchObject({ exitCode: 0 });
  expect(workersMax()).toEqual([2]);

  await replaceInProgram("workersMax: 2", "workersMax: 4");
  await commit("Allow 4 workers");
  emulator.faults.add({
    match: { operation: "saveEndpoint" },
    effect: { graphqlError: { message: "This release fails" } },
  });
  expect((await step("up")).exitCode).not.toBe(0);
  emulator.faults.clear();
  drift();
  expect(await step("auto-repair")).toMatchObject({
    exitCode: 1,
    output: expect.stringMatching(/the last up of this commit, at \S+, failed, and nothing was repaired/),
  });
  expect(workersMax()).toEqual([1]);
  expect(await step("drift")).toMatchObject({ exitCode: 7 });
  expect(await step("repair")).toMatchObject({ exitCode: 0 });
  expect(workersMax()).toEqual([4]);
  expect(await step("auto-repair")).toMatchObject({ exitCode: 0 });

  // The next commit is another release.
  await replaceInProgram("workersMax: 4", "workersMax: 3");
  await killUpdate();
  expect(await step("auto-repair")).toMatchObject({
    exitCode: 1,
    output: expect.stringContaining("pending operations"),
  });
  expect(await step("repair")).toMatchObject({ exitCode: 0 });
  expect(workersMax()).toEqual([3]);
});

const IDENTITY = ["-c", "user.name=Dev", "-c", "user.email=dev@example.com"];

/** Returns what `doctor` finds in the state. */
async function doctorOnState(): Promise<{ status: string; found: string; fix?: string }> {
  const { stdout } = await stack.exec(process.execPath, [CLI, "doctor", "--json"]);
  return JSON.parse(stdout).checks.find(({ check }: { check: string }) => check === "state");
}

async function doctorsFix(found: RegExp): Promise<string | undefined> {
  const finding = await doctorOnState();
  expect(finding).toMatchObject({ status: "warning", found: expect.stringMatching(found) });
  return finding.fix;
}

/** Kills the engine after the service's change, and leaves nothing on the machine. */
async function killUpdate(): Promise<void> {
  await stack.succeed(["stack", "select", "production"]);
  await crash(stack, emulator, { step: "save", when: "after", operation: "saveEndpoint" }, "engine", "up");
  await stack.succeed(["cancel", "--yes", "--stack", "production"]);
  await forget();
}

/** Another machine has no record of what this one has begun. */
const forget = () => rm(path.join(stack.scratch, "home/.cache"), { recursive: true, force: true });

test("an `up` from another machine creates no second endpoint after a killed create, and applies a plan that adopts the first one", async () => {
  await stack.succeed(["stack", "init", "production"]);
  await killUpdate();
  const [{ id = "" } = {}] = emulator.endpoints.list();
  expect(await doctorsFix(/creating urn:\S+::whisper/)).toContain("pulumi up --refresh");
  const { up: planned } = await previewAndApply();
  expect(planned).toMatchObject({ exitCode: 1, output: expect.stringContaining(`adoptId to "${id}"`) });
  const up = await step("up");
  expect(up.output).toMatch(/up --refresh\):\ncreating urn:\S+::whisper/);
  expect(up.output).toContain(`adoptId to "${id}"`);
  expect(emulator.endpoints.list()).toMatchObject([{ id }]);

  await replaceInProgram("workersMax: 2", `workersMax: 2, adoptId: "${id}"`);
  expect((await previewAndApply()).up).toMatchObject({ exitCode: 0 });
  expect(emulator.endpoints.list()).toMatchObject([{ id }]);
  // Pulumi keeps the create until it is cleared, but its end is known.
  expect((await stack.exportState()).deployment.pending_operations).toHaveLength(1);
  expect((await step("up")).output).not.toContain("--refresh");
  const fix = await doctorsFix(/still pending, although the state contains their resources/);
  const [command = ""] = /pulumi refresh --clear-pending-creates/.exec(fix ?? "") ?? [];
  await stack.succeed([...command.split(" ").slice(1), "--yes"]);
  expect((await doctorOnState()).status).toBe("ok");
  expect(emulator.endpoints.list()).toMatchObject([{ id }]);
});

test("an environment that is updated while the sweep removes another one is kept", async () => {
  await deployed("pr-7", "pr-8");
  for (const name of ["pr-7", "pr-8"]) await dateUpdate(name, new Date("2026-01-01"));
  emulator.faults.add({ match: { operation: "deleteEndpoint" }, effect: { latencyMs: 2_000 }, times: 1 });
  const sweeping = step("sweep");
  while (emulator.journal.requests({ operation: "deleteEndpoint" }).length === 0)
    await new Promise((resolve) => setTimeout(resolve, 50));
  // As after a push.
  await dateUpdate("pr-8", new Date());
  const swept = await sweeping;
  expect(swept.output).toContain("The environment pr-7 has ended.");
  expect(swept.output).toContain("The environment pr-8 was updated or removed meanwhile.");
  expect(swept.exitCode).toBe(0);
  expect(emulator.endpoints.list()).toHaveLength(1);
});

/** Sets the time of a stack's last update. */
async function dateUpdate(name: string, time: Date): Promise<void> {
  const file = path.join(stack.scratch, "state/.pulumi/stacks/serverless-gpu-gitops", `${name}.json`);
  const state = JSON.parse(await readFile(file, "utf8"));
  state.checkpoint.latest.manifest.time = time.toISOString();
  await writeFile(file, JSON.stringify(state));
}
