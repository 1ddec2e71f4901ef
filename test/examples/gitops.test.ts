import { execFile, execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { startGitHost } from "../support/gitHost";
import { type Contexts, groupOf, jobsOfWorkflow, type Workflow, type WorkflowJob } from "../support/githubActions";
import { type GitlabJob, type GitlabPipeline, gitlabJobs, jobsOfPipeline } from "../support/gitlabCi";
import { readYaml } from "../support/yaml";

const FOLDER = path.resolve(__dirname, "../../examples/gitops");
const [workflow] = readYaml<Workflow>("examples/gitops/github/serverless-gpu.yml") as [Workflow];
const [ticks] = readYaml<Workflow>("examples/gitops/github/tick.yml") as [Workflow];
const [pipeline] = readYaml<GitlabPipeline>("examples/gitops/gitlab/.gitlab-ci.yml") as [GitlabPipeline];
const manifests = readYaml<Manifest>("examples/gitops/kubernetes/stack.yaml");

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace: string }[];
}

/** The steps in the `case` statement of pipeline.sh. */
const knownSteps = [...readFileSync(path.join(FOLDER, "pipeline.sh"), "utf8").matchAll(/^ {2}([a-z]+)\) /gm)].map(
  ([, step]) => step,
);

const contextsOf = (event_name: string, event: object, ref = "refs/heads/main"): Contexts => ({
  github: { event_name, event, ref, repository: "example/endpoints", token: "github-token" },
  secrets: { PULUMI_CONFIG_PASSPHRASE: "passphrase", SERVERLESS_GPU_API_KEY: "the-key" },
  vars: { PULUMI_BACKEND_URL: "s3://state" },
});

function pullRequest(action: string, { labels = [] as string[], from = "example/endpoints", label = "" } = {}) {
  const pull_request = {
    head: { repo: { full_name: from }, sha: "2f92a6a" },
    base: { ref: "main" },
    labels: labels.map((name) => ({ name })),
  };
  return contextsOf("pull_request", { action, number: 7, pull_request, label: { name: label } });
}

const namesOf = (jobs: readonly { name: string }[]) => jobs.map(({ name }) => name);

test.each([
  ["a pull request is opened", pullRequest("opened"), ["preview"]],
  ["one from a fork", pullRequest("synchronize", { from: "stranger/endpoints" }), ["rehearse"]],
  ["one with a stack of its own", pullRequest("labeled", { labels: ["preview-stack"] }), ["preview", "preview-stack"]],
  ["its label is taken", pullRequest("unlabeled", { label: "preview-stack" }), ["preview", "remove-preview-stack"]],
  ["it is closed", pullRequest("closed", { labels: ["preview-stack"] }), ["remove-preview-stack"]],
  ["one from a fork is closed", pullRequest("closed", { from: "stranger/endpoints" }), []],
  ["a push to main", contextsOf("push", {}), ["up"]],
  ["the schedule", contextsOf("schedule", {}), ["sweep", "drift"]],
  ["the button", contextsOf("workflow_dispatch", {}), ["repair"]],
  ["the button on another branch", contextsOf("workflow_dispatch", {}, "refs/heads/other"), []],
])("the GitHub workflow runs the expected jobs: %s", (_event, contexts, expected) => {
  expect(namesOf(jobsOfWorkflow(workflow, contexts))).toEqual(expected);
});

const MERGE_REQUEST = {
  CI_PIPELINE_SOURCE: "merge_request_event",
  CI_MERGE_REQUEST_IID: "7",
  CI_MERGE_REQUEST_PROJECT_ID: "42",
  CI_MERGE_REQUEST_SOURCE_PROJECT_ID: "42",
};
const push = (branch: string) => ({
  CI_PIPELINE_SOURCE: "push",
  CI_COMMIT_BRANCH: branch,
  CI_DEFAULT_BRANCH: "main",
});

test.each([
  ["a merge request", MERGE_REQUEST, ["preview"], ["preview-stack", "remove-preview-stack"]],
  ["one from a fork", { ...MERGE_REQUEST, CI_MERGE_REQUEST_SOURCE_PROJECT_ID: "43" }, ["rehearse"], []],
  ["a push to the default branch", push("main"), ["up"], []],
  ["a push to another branch", push("other"), [], []],
  ["a schedule", { ...push("main"), CI_PIPELINE_SOURCE: "schedule" }, ["sweep", "drift"], ["repair"]],
  ["the schedule of ticks", { ...push("main"), CI_PIPELINE_SOURCE: "schedule", TICK: "true" }, ["tick"], []],
])("the GitLab pipeline runs the expected jobs: %s", (_event, variables, expected, manual) => {
  expect(namesOf(jobsOfPipeline(pipeline, variables))).toEqual(expected);
  expect(namesOf(jobsOfPipeline(pipeline, variables, { manual: true }))).toEqual(manual);
});

test("every command in both pipelines is an existing script, called with a step that pipeline.sh supports", () => {
  const steps = ["preview", "up", "drift", "repair", "tick", "deployed", "destroy", "remove", "sweep", "rehearse"];
  expect(knownSteps).toEqual(steps);
  const commands = [
    ...Object.values({ ...workflow.jobs, ...ticks.jobs }).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? [])),
    ...pipeline.default.before_script,
    ...gitlabJobs(pipeline).flatMap(([, { script, after_script = [] }]) => [...script, ...after_script]),
  ];
  expect(commands.length).toBeGreaterThan(25);
  for (const command of commands) {
    if (["npm ci --ignore-scripts", CHECK_OUT_DEPLOYED].includes(command)) continue;
    const [, script = "", step] = /^(?:\.\/|node )(\S+\.(?:sh|js))(?: (\w+))?(?: plan)?$/.exec(command) ?? [];
    expect([command, existsSync(path.join(FOLDER, script))]).toEqual([command, true]);
    if (script.endsWith(".sh")) expect(knownSteps).toContain(step);
  }
});

const CHECK_OUT_DEPLOYED = 'git checkout --quiet "$(./pipeline.sh deployed)"';

test("the workflow of ticks uses the actions, the environment and the waiting runs of the other one, and installs the deployed commit without the key", () => {
  const { tick, up } = { ...workflow.jobs, ...ticks.jobs } as Record<string, WorkflowJob>;
  expect(ticks.env).toEqual(workflow.env);
  expect(tick?.concurrency).toEqual(up?.concurrency);
  expect(tick).toMatchObject({ environment: "production", permissions: { contents: "read" } });
  const actions = (job: WorkflowJob | undefined) => job?.steps.flatMap(({ uses }) => uses ?? []);
  expect(actions(tick)).toEqual(actions(up));
  const [job] = jobsOfWorkflow(ticks, contextsOf("schedule", {}));
  expect(job?.steps.map(({ command }) => command)).toEqual([
    CHECK_OUT_DEPLOYED,
    "npm ci --ignore-scripts",
    "./pipeline.sh tick",
  ]);
  expect(job?.steps.map(({ env }) => "SERVERLESS_GPU_API_KEY" in env)).toEqual([false, false, true]);
});

test("the shell scripts are valid bash and refuse an unknown step", async () => {
  for (const script of ["pipeline.sh", "report.sh"]) execFileSync("bash", ["-n", path.join(FOLDER, script)]);
  const mistaken = promisify(execFile)(path.join(FOLDER, "pipeline.sh"), ["destory"]);
  await expect(mistaken).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('no step "destory"') });
});

describe("GitHub's workflow", () => {
  const jobs = Object.entries(workflow.jobs);

  test("GitHub's workflow pins its actions, sets a time limit for each job and grants no more permissions than needed", () => {
    expect(workflow.permissions).toEqual({});
    const writes: Record<string, string[]> = {};
    for (const [name, { steps, permissions, "timeout-minutes": minutes }] of jobs) {
      for (const { uses } of steps) if (uses) expect(uses).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
      expect(minutes).toBeGreaterThan(0);
      expect(permissions.contents).toBe("read");
      const written = Object.keys(permissions).filter((scope) => permissions[scope] === "write");
      if (written.length > 0) writes[name] = written;
    }
    expect(writes).toEqual({
      preview: ["pull-requests"],
      "preview-stack": ["pull-requests"],
      drift: ["issues"],
    });
  });

  test("GitHub's workflow allows one run per stack, and a single run for all environments and their sweep, which is never cancelled", () => {
    const contexts = pullRequest("opened");
    const writers = ["up", "repair", "preview-stack", "remove-preview-stack", "sweep"].map(
      (name) => workflow.jobs[name] as WorkflowJob,
    );
    expect(writers.map((job) => groupOf(job, contexts))).toEqual([
      "serverless-gpu-production",
      "serverless-gpu-production",
      "serverless-gpu-environments",
      "serverless-gpu-environments",
      "serverless-gpu-environments",
    ]);
    for (const { concurrency } of writers) expect(concurrency["cancel-in-progress"]).toBe(false);
    // Each group has runs of several requests or ticks, of which none may replace a waiting one.
    for (const { concurrency } of writers) expect(concurrency.queue).toBe("max");
  });

  test("GitHub's workflow withholds the key from previews and installations, and every secret from forks", () => {
    const environments = Object.fromEntries(jobs.map(([name, { environment }]) => [name, environment]));
    for (const contexts of [pullRequest("opened"), contextsOf("push", {}), contextsOf("schedule", {})]) {
      for (const { name, steps } of jobsOfWorkflow(workflow, contexts)) {
        const withKey = steps.filter(({ env }) => JSON.stringify(env).includes("the-key"));
        expect(withKey).toHaveLength(name === "preview" ? 0 : 1);
        for (const { command } of withKey) expect(command).not.toContain("npm");
        if (withKey.length > 0) expect(environments[name]).toBe(name === "sweep" ? "preview" : "production");
      }
    }
    const [rehearse] = jobsOfWorkflow(workflow, pullRequest("opened", { from: "stranger/endpoints" }));
    expect(JSON.stringify(rehearse)).not.toMatch(/the-key|passphrase/);
  });
});

test("GitLab's pipeline allows one run per stack and one for all environments and their sweep, sets time limits, and uses an environment wherever the key is needed", () => {
  const jobs = Object.fromEntries(gitlabJobs(pipeline));
  for (const job of Object.values(jobs)) expect(job.timeout).toMatch(/^\d+ minutes$/);
  const environmentOf = ({ environment }: GitlabJob) =>
    typeof environment === "object" ? environment.name : environment;
  const groups = Object.fromEntries(
    Object.entries(jobs)
      .filter(([, { interruptible }]) => !interruptible)
      .map(([name, job]) => [name, [job.resource_group, environmentOf(job)]]),
  );
  const ofMergeRequest = ["environments", "preview/$CI_MERGE_REQUEST_IID"];
  expect(groups).toEqual({
    "preview-stack": ofMergeRequest,
    "remove-preview-stack": ofMergeRequest,
    up: ["production", "production"],
    drift: ["production", "production"],
    repair: ["production", "production"],
    tick: ["production", "production"],
    // The key of requests' stacks, which has the scope preview/*.
    sweep: ["environments", "preview/sweep"],
  });
  expect(jobs["preview-stack"]?.environment).toMatchObject({ on_stop: "remove-preview-stack" });
});

test("the Stack of the Kubernetes operator uses only fields that its API supports, and reads secrets by reference", () => {
  const [account, binding, stack] = manifests;
  expect(manifests).toHaveLength(3);
  expect(binding?.subjects).toEqual([{ kind: "ServiceAccount", ...account?.metadata }]);
  expect(stack).toMatchObject({ apiVersion: "pulumi.com/v1", kind: "Stack" });
  const { envRefs, workspaceTemplate, ...spec } = stack?.spec as Record<string, object>;
  // Of pulumi.com/v1, StackSpec; what is deprecated there is left out.
  const known = `backend branch commit config configRef continueResyncOnCommitMatch destroyOnFinalize
    expectNoRefreshChanges fluxSource gitAuth prerequisites preview programRef projectRepo refresh repoDir
    resyncFrequencySeconds retryMaxBackoffDurationSeconds retryOnUpdateConflict secretsProvider secretsRef
    serviceAccountName shallow stack targetDependents targets updateTemplate useLocalStackOnly workspaceReclaimPolicy`;
  expect(known.split(/\s+/)).toEqual(expect.arrayContaining(Object.keys(spec)));
  expect(spec.serviceAccountName).toBe(account?.metadata.name);
  const secret = (key: string) => ({ type: "Secret", secret: { name: "serverless-gpu", key } });
  expect(envRefs).toEqual({
    SERVERLESS_GPU_API_KEY: secret("apiKey"),
    SERVERLESS_GPU_SERVICE: { type: "Literal", literal: { value: "runpod" } },
    PULUMI_BACKEND_URL: secret("backendUrl"),
    PULUMI_CONFIG_PASSPHRASE: secret("passphrase"),
  });
  expect(workspaceTemplate).toEqual({
    spec: {
      image: expect.stringMatching(/^pulumi\/pulumi:\d+\.\d+\.\d+-nonroot$/),
      resources: expect.anything(),
      podTemplate: { spec: { terminationGracePeriodSeconds: expect.any(Number) } },
    },
  });
});

test("both pipelines keep the plan of the production preview and apply no other plan", () => {
  const PLAN = "plan/plan.json";
  const jobsOf = (contexts: Contexts) => jobsOfWorkflow(workflow, contexts);
  const github = [...jobsOf(pullRequest("opened")), ...jobsOf(contextsOf("push", {}))];
  const gitlab = [...jobsOfPipeline(pipeline, MERGE_REQUEST), ...jobsOfPipeline(pipeline, push("main"))];
  for (const [preview, up] of [github, gitlab]) {
    const step = (job: typeof preview, command: string) => job?.steps.find((each) => each.command === command);
    expect(step(preview, "./report.sh preview")?.env).toMatchObject({ PLAN, STACK: "production" });
    expect(preview?.steps.find(({ keeps }) => keeps)?.keeps?.folder).toBe("plan/");
    expect(up?.steps.at(-2)?.command).toBe("node plan.js download plan");
    expect(step(up, "./pipeline.sh up")?.env).toMatchObject({ PLAN, STACK: "production" });
  }
  expect(jobsOf(pullRequest("opened"))[0]?.steps.find(({ keeps }) => keeps)?.keeps?.name).toBe("plan-2f92a6a");
});

describe("post.js", () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "post-"));
  cpSync(path.join(FOLDER, "post.js"), path.join(folder, "post.js"));
  afterAll(() => rmSync(folder, { recursive: true }));

  async function post(report: string, env: Readonly<Record<string, string>>) {
    writeFileSync(path.join(folder, "report.md"), report);
    return promisify(execFile)(process.execPath, ["post.js"], { cwd: folder, env });
  }

  test("post.js finds its own comment among others, and truncates a report that is too long for a comment", async () => {
    await using host = await startGitHost({ comments: Array.from({ length: 100 }, () => "another comment") });
    const env = { ...host.githubEnv, GITHUB_TOKEN: "github-token", PULL_REQUEST: "7" };
    const first = "<!-- pipeline preview production 0 -->\n### What a merge would do\n";
    await post(first, env);
    await post(`${first}${"x".repeat(100_000)}`, env);
    await post("<!-- pipeline preview pr-7 0 -->\n### What a merge would do\n", env);
    expect(host.comments).toHaveLength(102);
    expect(host.comments[100]).toMatch(/^<!-- pipeline preview production/);
    expect(host.comments[100]?.length).toBeLessThan(65_536);
    expect(host.comments[100]).toContain("in the log");
    expect(host.comments[100]).toContain("(https://github.example/example/endpoints/actions/runs/1234)");
  });

  test("post.js shows the host's response to a refused request, without the token", async () => {
    await using host = await startGitHost();
    const env = { ...host.gitlabEnv, GITLAB_TOKEN: "wrong-token" };
    const failure = await post("<!-- pipeline drift production 7 -->\n### Drift\n", env).catch((error) => error);
    expect(failure.stderr).toContain("failed with status 401");
    expect(failure.stderr).not.toContain("wrong-token");
    expect(host.issues).toEqual([]);
  });
});

describe("plan.js", () => {
  const HEAD = "2f92a6a";
  const MERGE = "77aa123";
  const files = ["plan.json", "plan.json.before", "plan.json.instant"];
  const plan = (text: string) => new Map(files.map((name) => [name, Buffer.from(text)]));
  const reviewed = { name: `plan-${HEAD}`, commit: HEAD, files: plan("reviewed") };
  const foreign = { ...reviewed, files: plan("foreign") };

  type GitHost = Awaited<ReturnType<typeof startGitHost>>;

  /** Returns the downloaded plan, or the message of the failure. */
  async function download(host: GitHost, at: "github" | "gitlab") {
    const folder = mkdtempSync(path.join(os.tmpdir(), "plan-"));
    const env =
      at === "github"
        ? { ...host.githubEnv, GITHUB_TOKEN: "github-token", GITHUB_SHA: MERGE }
        : { ...host.gitlabEnv, GITLAB_TOKEN: "gitlab-token", CI_COMMIT_SHA: MERGE, CI_COMMIT_BRANCH: "main" };
    const { PATH = "" } = process.env;
    const script = path.join(FOLDER, "plan.js");
    try {
      await promisify(execFile)(process.execPath, [script, "download", folder], { env: { PATH, ...env } });
      return readFileSync(path.join(folder, "plan.json"), "utf8");
    } catch (error) {
      expect(existsSync(path.join(folder, "plan.json"))).toBe(false);
      return (error as { stderr: string }).stderr;
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  test.each([
    "github",
    "gitlab",
  ] as const)("plan.js accepts a plan at %s only if it comes from the preview of the merged head", async (at) => {
    await using host = await startGitHost();
    host.merges.set(MERGE, { sha: HEAD });
    host.artifacts.push(
      reviewed,
      { ...foreign, isOfFork: true },
      { ...foreign, commit: "0bad0ff" },
      { ...foreign, event: "workflow_dispatch" },
      ...(at === "github" ? [{ ...foreign, workflow: 2 }] : []),
    );
    expect(await download(host, at)).toBe("reviewed");
    host.artifacts.shift();
    expect(await download(host, at)).toMatch(
      /No preview of the last commit of \w+ request [#!]7 has a plan.*empty commit/,
    );
  });

  test.each([
    "github",
    "gitlab",
  ] as const)("plan.js reports at %s that a pull request from a fork has no reviewed plan", async (at) => {
    await using host = await startGitHost();
    host.merges.set(MERGE, { sha: HEAD, isOfFork: true });
    host.artifacts.push({ ...foreign, isOfFork: true }, foreign);
    const message = await download(host, at);
    expect(message).toMatch(/no reviewed plan.*request [#!]7 comes from a fork.*branch of this repository/);
    expect(message).not.toMatch(/expired|failed|No request/);
  });

  test.each([
    "github",
    "gitlab",
  ] as const)("plan.js reports at %s that no pull request was merged into this branch", async (at) => {
    await using host = await startGitHost();
    host.artifacts.push(reviewed);
    expect(await download(host, at)).toContain("No request was merged with it");
    host.merges.set(MERGE, { sha: HEAD, into: "release" });
    expect(await download(host, at)).toContain("No request was merged with it");
  });
});

test("a tick that is limited to some endpoints does not let an unattended repair try a failed release again", () => {
  const update = (message: string, result: string) => ({
    kind: "update",
    result,
    message,
    startTime: message,
    environment: { "git.head": "abc" },
  });
  const failedOf = (history: readonly object[]) =>
    execFileSync(process.execPath, [path.join(FOLDER, "failed.js"), "abc"], {
      input: JSON.stringify(history),
      encoding: "utf8",
    });
  const release = update("Release", "failed");
  expect(failedOf([update("pipeline.sh tick", "succeeded"), release])).toBe("Release\n");
  expect(failedOf([update("Repair", "succeeded"), release])).toBe("");
});
