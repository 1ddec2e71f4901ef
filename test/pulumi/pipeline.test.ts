import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { startGitHost } from "../support/gitHost";
import { jobsOfWorkflow, type Workflow } from "../support/githubActions";
import { type GitlabPipeline, type Job, jobsOfPipeline } from "../support/gitlabCi";
import { readYaml } from "../support/yaml";
import { createStack, type PulumiStack } from "./harness";
import { playJobs } from "./playJobs";

// A team works on the example as its repository. The workflow files define the jobs of each event,
// with their commands and environment. Each job runs in a new clone, as on a new runner.

const [workflow] = readYaml<Workflow>("examples/gitops/github/serverless-gpu.yml") as [Workflow];
const [pipeline] = readYaml<GitlabPipeline>("examples/gitops/gitlab/.gitlab-ci.yml") as [GitlabPipeline];

type GitHost = Awaited<ReturnType<typeof startGitHost>>;

let host: GitHost;
let emulator: Emulator;
/** The developer's clone, and the scratch folder around it. */
let stack: PulumiStack;
let apiKey = "key-before-rotation";
/** The output of all jobs. */
let log = "";

const inScratch = (name: string) => path.join(stack.scratch, name);
const workersMax = () => emulator.endpoints.list().map((endpoint) => endpoint.workersMax);

async function git(...args: string[]) {
  const identity = ["-c", "user.name=Dev", "-c", "user.email=dev@example.com"];
  const { exitCode, output } = await stack.exec("git", [...identity, ...args]);
  if (exitCode !== 0) throw new Error(`git ${args.join(" ")} failed:\n${output}`);
  return output.trim();
}

const commitOf = (branch: string) => git("rev-parse", branch);

/**
 * Merges a branch as the hosts do, so that they know which request the new commit of main comes
 * from.
 */
async function merge(branch: string, ...hosts: readonly GitHost[]) {
  await git("checkout", "--quiet", "main");
  await git("merge", "--quiet", "--no-ff", branch);
  await git("push", "--quiet", "origin", "main");
  for (const { merges } of hosts) merges.set(await commitOf("main"), { sha: await commitOf(branch) });
}

/** Commits another `workersMax` on a branch and pushes it. */
async function pushWorkersMax(branch: string, value: number) {
  await git("checkout", "--quiet", "-B", branch);
  await stack.exec("sed", ["-i", `s/workersMax: [0-9]*/workersMax: ${value}/`, "index.ts"]);
  await git("commit", "--quiet", "--all", "--message", `Allow ${value} workers`);
  await git("push", "--quiet", "origin", branch);
}

/**
 * The environment of a runner without a workflow: the URL of the service, because the emulator is
 * not public, and no state.
 */
const runner = () => ({
  PULUMI_BACKEND_URL: "",
  PULUMI_CONFIG_PASSPHRASE: "",
  PULUMI_NODEJS_TRANSPILE_ONLY: "true",
  SERVERLESS_GPU_GRAPHQL_URL: emulator.url,
  SERVERLESS_GPU_REST_URL: emulator.url,
  SERVERLESS_GPU_QUEUE_URL: emulator.url,
});

async function checkOut(branch: string): Promise<string> {
  const checkout = inScratch("checkout");
  await rm(checkout, { recursive: true, force: true });
  await git("clone", "--quiet", "--branch", branch, inScratch("origin.git"), checkout);
  return checkout;
}

/** Runs the jobs at the last commit of a branch: those of the event, or only one of them. */
async function play(
  ofEvent: readonly Job[],
  only: unknown,
  branch: string,
  { artifacts }: GitHost,
  hostEnv: Readonly<Record<string, string>>,
) {
  const commit = await commitOf(branch);
  const jobs = ofEvent.filter(({ name }) => only === undefined || name === only);
  const env = { ...runner(), ...hostEnv, GITHUB_SHA: commit, CI_COMMIT_SHA: commit };
  const results = await playJobs(jobs, { stack, env, artifacts, commit, checkOut: () => checkOut(branch) });
  for (const { output } of Object.values(results)) log += output;
  return results;
}

const STATE = () => ({ PULUMI_BACKEND_URL: `file://${inScratch("state")}`, PULUMI_CONFIG_PASSPHRASE: "of-the-team" });

async function github(
  event_name: string,
  { branch = "main", fork = false, only, ...event }: Record<string, unknown> = {},
) {
  const { PULUMI_BACKEND_URL, PULUMI_CONFIG_PASSPHRASE } = STATE();
  const repository = "example/endpoints";
  const pull_request = {
    labels: [],
    head: { repo: { full_name: fork ? "stranger/endpoints" : repository }, sha: await commitOf(String(branch)) },
    base: { ref: "main" },
    ...(event.pull_request as object | undefined),
  };
  const jobs = jobsOfWorkflow(workflow, {
    github: {
      event_name,
      event: { number: 7, ...event, pull_request },
      ref: "refs/heads/main",
      repository,
      token: "github-token",
    },
    secrets: fork ? {} : { PULUMI_CONFIG_PASSPHRASE, SERVERLESS_GPU_API_KEY: apiKey },
    vars: { PULUMI_BACKEND_URL },
  });
  return play(jobs, only, String(branch), host, host.githubEnv);
}

/** Runs the pipeline of GitLab for an event. */
function gitlab(
  source: string,
  branch: string,
  at: GitHost,
  { only, ...variables }: Readonly<Record<string, string>> = {},
) {
  const all = { ...STATE(), CI_PIPELINE_SOURCE: source, GITLAB_TOKEN: "gitlab-token", ...variables };
  return play(jobsOfPipeline(pipeline, all), only, branch, at, at.gitlabEnv);
}

const MERGE_REQUEST = { CI_MERGE_REQUEST_PROJECT_ID: "42", CI_MERGE_REQUEST_SOURCE_PROJECT_ID: "42" };
const TO_MAIN = () => ({ CI_COMMIT_BRANCH: "main", CI_DEFAULT_BRANCH: "main", SERVERLESS_GPU_API_KEY: apiKey });

const PREVIEW_STACK = { pull_request: { labels: [{ name: "preview-stack" }] } };
/** The jobs of a label, without the preview that each of them repeats. */
const LABELED = { action: "labeled", only: "preview-stack", ...PREVIEW_STACK };

beforeAll(async () => {
  stack = await createStack({ folder: "examples/gitops" });
  await startService();
  host = await startGitHost();
  await git("init", "--quiet", "--bare", "--initial-branch=main", inScratch("origin.git"));
  await git("init", "--quiet", "--initial-branch=main");
  await git("remote", "add", "origin", inScratch("origin.git"));
  await rm(path.join(stack.folder, "Pulumi.dev.yaml"), { force: true });
  // Made once, and committed with the program.
  await stack.succeed(["stack", "init", "production"], STATE());
  await git("add", ".");
  await git("commit", "--quiet", "--message", "Deploy an endpoint");
  await git("push", "--quiet", "origin", "main");
});

/** The account, kept in a file so that it outlives a rotation of its key. */
async function startService() {
  const port = emulator ? Number(new URL(emulator.url).port) : 0;
  await emulator?.stop();
  const dataFile = inScratch("account.json");
  emulator = await startEmulator({ apiKey, dataFile, port, profile: "observed", drainMs: 100 });
}

afterAll(async () => {
  await emulator.stop();
  await host[Symbol.asyncDispose]();
});

test("merging the first pull request applies its plan, and a push without a pull request changes nothing", async () => {
  const refused = await github("push");
  expect(refused.up).toMatchObject({
    exitCode: 1,
    output: expect.stringMatching(/has no reviewed plan.*empty commit/s),
  });
  expect(emulator.journal.requests()).toEqual([]);

  await git("checkout", "--quiet", "-B", "first");
  await git("commit", "--quiet", "--allow-empty", "--message", "Deploy");
  await git("push", "--quiet", "origin", "first");
  await github("pull_request", { action: "opened", branch: "first" });
  expect(host.comments).toEqual([expect.stringContaining("What a merge would do")]);
  await merge("first", host);
  const { up } = await github("push");
  expect(up?.output).toContain("+ 2 created");
  expect(emulator.endpoints.list()).toMatchObject([{ gpuIds: "AMPERE_16,AMPERE_24", workersMax: 2 }]);
});

test("a pull request is previewed and reviewed in one comment without a key, also in GitLab's pipeline", async () => {
  const calls = emulator.journal.requests().length;
  await pushWorkersMax("more-workers", 4);
  // The comment of an earlier commit is updated.
  await github("pull_request", { action: "synchronize", branch: "more-workers" });
  expect(host.comments).toEqual([expect.stringMatching(/What a merge would do.*~ workersMax *: 2 => 4/s)]);
  expect(host.comments).toEqual([expect.stringContaining("| whisper | workersMax 2 → 4 | $1.37 → $2.74 |")]);
  const sent = emulator.journal.requests().slice(calls);
  // Only the review asks, for the part of the catalog that needs no key.
  expect(sent.map(({ operation }) => operation)).toEqual(["dataCenters"]);

  await using other = await startGitHost();
  await gitlab("merge_request_event", "more-workers", other, MERGE_REQUEST);
  expect(other.comments).toEqual(host.comments.map((text) => text.replace(/\[Log\].*/, gitlabLog)));
});

const gitlabLog = "[Log](https://gitlab.example/job/12)";

test("a failed preview also posts a comment, and fails its job", async () => {
  await git("checkout", "--quiet", "-B", "mistake", "main");
  await stack.exec("sed", ["-i", "s/AMPERE_16/NVIDIA L4/", "index.ts"]);
  await git("commit", "--quiet", "--all", "--message", "Take a GPU type");
  await git("push", "--quiet", "origin", "mistake");
  const { preview } = await github("pull_request", { action: "opened", number: 7, branch: "mistake" });
  expect(preview?.exitCode).not.toBe(0);
  expect(host.comments).toEqual([expect.stringMatching(/failed with exit code.*NVIDIA L4/s)]);
  await git("checkout", "--quiet", "more-workers");
});

test("a pull request above a cap fails before `up`, its plan is not kept, it gets no environment, and comments explain why", async () => {
  const plans = host.artifacts.length;
  await pushWorkersMax("expensive", 40);
  const jobs = await github("pull_request", { action: "labeled", branch: "expensive", ...PREVIEW_STACK });
  expect([jobs.preview?.exitCode, jobs["preview-stack"]?.exitCode]).toEqual([3, 3]);
  expect(host.comments).toEqual([
    expect.stringMatching(/A merge would exceed a cap of the stack `production`.*27\.36/s),
    expect.stringMatching(/would exceed a cap, and nothing was created.*27\.20/s),
  ]);
  expect(host.artifacts).toHaveLength(plans);
  expect(workersMax()).toEqual([2]);
  await git("checkout", "--quiet", "more-workers");
});

test("a pull request from a fork is applied to its own emulator", async () => {
  const calls = emulator.journal.requests().length;
  const { rehearse } = await github("pull_request", { action: "opened", branch: "more-workers", fork: true });
  expect(rehearse).toMatchObject({
    exitCode: 0,
    output: expect.stringMatching(/a creation of production.*A destroy would work.*created/s),
  });
  expect(emulator.journal.requests()).toHaveLength(calls);
});

const ENDED = "--ended organization/serverless-gpu-gitops/pr-7";

/** Runs the scheduled step that ends environments, as its job does. */
async function sweep(ttlHours: number) {
  const env = { ...runner(), ...STATE(), SERVERLESS_GPU_API_KEY: apiKey, SERVERLESS_GPU_SERVICE: "runpod" };
  const cwd = await checkOut("main");
  const result = await stack.exec("bash", ["./pipeline.sh", "sweep"], {
    cwd,
    env: { ...env, TTL_HOURS: String(ttlHours) },
  });
  log += result.output;
  return result;
}

test("a pull request's stack exists until the pull request is closed or its time has elapsed, and a merge is applied", async () => {
  const branch = "more-workers";
  const opened = await github("pull_request", { branch, ...LABELED });
  expect(opened["preview-stack"]?.exitCode).toBe(0);
  expect(workersMax()).toEqual([2, 4]);
  expect(host.comments).toHaveLength(2);
  expect(host.comments[1]).toMatch(/`up` of the stack `pr-7` succeeded.*\| whisper \|.*queueUrl/s);

  await merge(branch, host);
  emulator.faults.add({ match: { operation: "deleteEndpoint" }, effect: { status: 403 } });
  const close = async () =>
    (await github("pull_request", { action: "closed", ...PREVIEW_STACK }))["remove-preview-stack"]?.exitCode;
  expect(await close()).not.toBe(0);
  // A sweep that also fails says so at its end, and the next one continues.
  expect((await sweep(0)).exitCode).not.toBe(0);
  emulator.faults.clear();
  expect(await sweep(168)).toMatchObject({ exitCode: 0, output: expect.stringContaining("No orphans") });
  expect(workersMax()).toEqual([2, 4]);
  // A job that has just begun holds the lock, which the sweep respects.
  const locks = inScratch("state/.pulumi/locks/organization/serverless-gpu-gitops/pr-7");
  await mkdir(locks, { recursive: true });
  const owner = { pid: 1, username: "runner", hostname: "another", timestamp: "2100-01-01T00:00:00Z" };
  await writeFile(path.join(locks, "lock.json"), JSON.stringify(owner));
  expect(await sweep(0)).toMatchObject({ exitCode: 1, output: expect.stringContaining("runner@another") });
  expect(workersMax()).toEqual([2, 4]);
  await rm(path.join(locks, "lock.json"));
  // A sweep that succeeds is in pipelineSteps.test.ts.
  expect(await close()).toBe(0);
  expect(workersMax()).toEqual([2]);
  expect(await readdir(inScratch("state/.pulumi/stacks/serverless-gpu-gitops"))).not.toContain("pr-7.json");
  const { up } = await github("push");
  expect(up?.output).toContain("~ 1 updated");
  expect(workersMax()).toEqual([4]);
});

test("the sweep finds the remains of an environment whose job was killed, and deletes them by id", async () => {
  await git("checkout", "--quiet", "main");
  await pushWorkersMax("life", 3);
  emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: { hang: true, when: "after" }, times: 1 });
  const count = emulator.endpoints.list().length;
  const running = github("pull_request", { branch: "life", ...LABELED });
  while (emulator.endpoints.list().length === count) await new Promise((resolve) => setTimeout(resolve, 20));
  for (const { pid } of await stack.processes()) process.kill(pid, "SIGKILL");
  expect((await running)["preview-stack"]?.exitCode).not.toBe(0);
  emulator.faults.clear();

  // It also left its lock, which this sweep releases.
  const { exitCode, output } = await sweep(0);
  expect(exitCode).toBe(3);
  const [id = ""] = emulator.endpoints.list().flatMap((each) => (each.workersMax === 3 ? [each.id] : []));
  expect(output).toMatch(new RegExp(`ORPHAN +endpoint ${id} .*pr-7, which has ended`, "s"));
  const command = `npx pulumi-serverless-gpu orphans ${ENDED} --delete ${id} --runs-have-ended`;
  const env = { ...runner(), ...STATE(), SERVERLESS_GPU_API_KEY: apiKey };
  const deleted = await stack.exec("bash", ["-c", command], { cwd: await checkOut("main"), env });
  expect(deleted).toMatchObject({ exitCode: 0, output: expect.stringContaining(`deleted endpoint ${id}`) });
  expect(workersMax()).toEqual([4]);
  expect((await sweep(0)).exitCode).toBe(0);
});

test("the schedule keeps one issue open while drift exists, and a repair closes it, also in GitLab's pipeline", async () => {
  await using other = await startGitHost();
  const drift = async (only?: string) => {
    const { drift: job } = await github("schedule", { only });
    // The same report, which GitLab's job posts with this command.
    const env = { ...other.gitlabEnv, GITLAB_TOKEN: "gitlab-token" };
    const posted = await stack.exec("node", ["post.js"], { cwd: inScratch("checkout"), env });
    return [job?.exitCode, posted.exitCode];
  };
  expect(await drift()).toEqual([0, 0]);
  expect([...host.issues, ...other.issues]).toEqual([]);

  const [endpoint] = emulator.endpoints.list();
  emulator.endpoints.change(endpoint?.id ?? "", { workersMax: 1 });
  const scheduled = await gitlab("schedule", "main", other, { SERVERLESS_GPU_API_KEY: apiKey });
  expect(scheduled.drift?.exitCode).toBe(7);
  expect(other.issues).toMatchObject([{ open: true }]);
  expect(await drift("drift")).toEqual([7, 0]);
  emulator.endpoints.change(endpoint?.id ?? "", { workersMax: 0 });
  expect(await drift("drift")).toEqual([7, 0]);
  const title = "Drift in the stack production: the service differs from what was last deployed";
  const text = expect.stringMatching(/run the step `repair`.*~ workersMax *: 4 => 0/s);
  expect(host.issues).toEqual([{ title, labels: ["drift"], text, open: true }]);
  expect(other.issues).toEqual([{ title, labels: "drift", text, open: true }]);

  expect((await github("workflow_dispatch")).repair?.output).toContain("~ 1 updated");
  expect(workersMax()).toEqual([4]);
  expect(await drift("drift")).toEqual([0, 0]);
  expect([...host.issues, ...other.issues]).toMatchObject([{ open: false }, { open: false }]);
});

test("a custom program plans, applies and detects drift on the same stack", async () => {
  const cwd = await checkOut("main");
  const automation = (step: string) =>
    stack.exec(process.execPath, ["-r", "ts-node/register", "automation.ts", step, "production"], {
      cwd,
      env: { ...runner(), ...STATE(), SERVERLESS_GPU_API_KEY: apiKey, TS_NODE_TRANSPILE_ONLY: "true" },
    });
  await stack.exec("sed", ["-i", "s/workersMax: 4/workersMax: 5/", "index.ts"], { cwd });
  expect((await automation("preview")).output).toMatch(/~ workersMax *: 4 => 5.*would change something/s);
  expect((await automation("up")).output).toContain(`Jobs go to ${emulator.url}/v2/`);
  expect(workersMax()).toEqual([5]);
  emulator.endpoints.change(emulator.endpoints.list()[0]?.id ?? "", { workersMax: 1 });
  expect(await automation("drift")).toMatchObject({ exitCode: 7 });
  expect(await automation("repair")).toMatchObject({ exitCode: 0, output: expect.stringContaining("~ 1 updated") });
  expect(workersMax()).toEqual([5]);
  expect(await automation("drift")).toMatchObject({ exitCode: 0 });
  emulator.endpoints.change(emulator.endpoints.list()[0]?.id ?? "", { workersMax: 1 });

  // This is what a killed runner leaves.
  const locks = inScratch("state/.pulumi/locks/organization/serverless-gpu-gitops/production");
  await mkdir(locks, { recursive: true });
  const owner = { pid: 1, username: "runner", hostname: "killed", timestamp: "2026-01-01T00:00:00Z" };
  await writeFile(path.join(locks, "lock.json"), JSON.stringify(owner));
  expect(await automation("up")).toMatchObject({ exitCode: 1, output: expect.stringContaining("Another run") });
  const { repair } = await github("workflow_dispatch");
  expect(repair).toMatchObject({ exitCode: 1, output: expect.stringMatching(/locked by 1 lock.*runner@killed/s) });
  expect((await github("schedule", { only: "drift" })).drift?.exitCode).toBe(7);
  await stack.exec("pulumi", ["cancel", "--yes", "--stack", "production"], { cwd, env: STATE() });
  expect((await github("workflow_dispatch")).repair?.exitCode).toBe(0);
  expect(workersMax()).toEqual([4]);
});

test("an outdated plan changes nothing, and the preview of an empty commit creates a valid one, also on GitLab", async () => {
  await using other = await startGitHost();
  const preview = (branch: string) => gitlab("merge_request_event", branch, other, MERGE_REQUEST);
  await pushWorkersMax("six-workers", 6);
  await preview("six-workers");
  const previewed = { sha: await commitOf("six-workers") };
  const files = [...host.artifacts, ...other.artifacts].flatMap((artifact) => [...artifact.files.values()]);
  expect(files.join()).toContain("workersMax");

  // Another commit: main gets a change that the preview has not seen.
  await pushWorkersMax("main", 7);
  await git("checkout", "--quiet", "six-workers");
  await git("merge", "--quiet", "--strategy", "ours", "main");
  await pushWorkersMax("six-workers", 8);
  other.merges.set(await commitOf("six-workers"), previewed);
  await git("push", "--quiet", "origin", "six-workers:main");
  const changed = await gitlab("push", "six-workers", other, TO_MAIN());
  const unfit = (reason: string) => ({
    exitCode: 1,
    output: expect.stringMatching(new RegExp(`${reason}.*empty commit`, "s")),
  });
  expect(changed.up).toMatchObject(unfit("do something else than the preview"));
  expect(workersMax()).toEqual([4]);

  // The state of the endpoint changes after the preview.
  await git("checkout", "--quiet", "main");
  await git("reset", "--quiet", "--hard", "origin/main");
  await git("commit", "--quiet", "--allow-empty", "--message", "Make another plan");
  await git("branch", "--force", "again");
  await git("push", "--quiet", "--force", "origin", "main", "again");
  await github("pull_request", { action: "opened", branch: "again" });
  await preview("again");
  host.merges.set(await commitOf("main"), { sha: await commitOf("again") });
  other.merges.set(await commitOf("main"), { sha: await commitOf("again") });
  emulator.endpoints.change(emulator.endpoints.list()[0]?.id ?? "", { workersMax: 1 });
  const cwd = await checkOut("main");
  const refresh = ["refresh", "--yes", "--stack", "production"];
  const env = { ...runner(), ...STATE(), SERVERLESS_GPU_API_KEY: apiKey };
  expect(await stack.exec("pulumi", refresh, { cwd, env })).toMatchObject({ exitCode: 0 });
  expect((await github("push")).up).toMatchObject(unfit("the stack has changed since the preview"));
  expect((await gitlab("push", "main", other, TO_MAIN())).up).toMatchObject(unfit("the stack has changed since"));
  expect(workersMax()).toEqual([1]);

  await preview("again");
  expect((await gitlab("push", "main", other, TO_MAIN())).up).toMatchObject({ exitCode: 0 });
  expect(workersMax()).toEqual([8]);
});

test("with a rotated key in the secret store, destroy deletes the resources created with the previous key", async () => {
  apiKey = "key-after-rotation";
  await startService();
  expect(workersMax()).toHaveLength(1);
  const destroyed = await stack.exec("./pipeline.sh", ["destroy"], {
    cwd: await checkOut("main"),
    env: { ...runner(), ...STATE(), STACK: "production", SERVERLESS_GPU_API_KEY: apiKey },
  });
  expect(destroyed).toMatchObject({ exitCode: 0, output: expect.stringContaining("- 2 deleted") });
  expect(emulator.endpoints.list()).toEqual([]);
});

test("no key appears in the jobs' output, comments or state", async () => {
  const posted = JSON.stringify([host.comments, host.issues]);
  const plans = host.artifacts.flatMap(({ files }) => [...files.values()].map(String));
  expect(plans.length).toBeGreaterThan(5);
  const state = [...(await stack.files())]
    .filter(([name]) => name.startsWith(inScratch("state")))
    .map(([, text]) => text);
  expect(state.length).toBeGreaterThan(5);
  for (const text of [log, posted, ...plans, ...state]) expect(text).not.toMatch(/key-(before|after)-rotation/);
});
