/**
 * The plan of a reviewed preview, which `pipeline.sh preview` saves and `pipeline.sh up` applies.
 *
 *   node plan.js download <folder> downloads the plan of the pull or merge request that the current
 *   commit merged node plan.js before <plan> reads `pulumi stack export` from stdin, and prints
 *   what the stack holds of the resources that the plan changes. Pulumi does not compare this when
 *   it applies a plan
 *
 * Environment: the variables that the CI sets, and GITHUB_TOKEN, or at GitLab GITLAB_TOKEN, as for
 * post.js.
 */
const { execFileSync } = require("node:child_process");
const { mkdirSync, readFileSync, writeFileSync } = require("node:fs");
const path = require("node:path");

const FILES = ["plan.json", "plan.json.before", "plan.json.instant"];
const TIMEOUT_MS = 30_000;

const { env } = process;

/**
 * @param {string} url
 * @returns {Promise<Response>}
 */
async function get(url) {
  /** @type {Record<string, string>} */
  const headers = env.GITLAB_CI
    ? { "private-token": `${env.GITLAB_TOKEN}` }
    : { authorization: `Bearer ${env.GITHUB_TOKEN}`, accept: "application/vnd.github+json" };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(url, { headers: { ...headers, "user-agent": "serverless-gpu-pipeline" }, signal });
  if (!response.ok) throw new Error(`GET ${url} failed with status ${response.status}: ${await response.text()}`);
  return response;
}

/**
 * @typedef {{ full_name: string }} Repository
 * @typedef {{ sha: string, ref: string, repo: Repository | null }} Branch
 * @typedef {{ number: number, merged_at: string | null, head: Branch, base: Branch }} PullRequest
 * @typedef {{ id: number, expired: boolean, workflow_run?: { id: number } }} Artifact
 * @typedef {object} Run
 * @property {number} workflow_id
 * @property {string} event
 * @property {string} head_sha
 * @property {Repository} repository
 * @property {Repository | null} head_repository
 * @typedef {object} MergeRequest
 * @property {number} iid
 * @property {string} state
 * @property {string} sha
 * @property {string} target_branch
 * @property {number | null} source_project_id
 * @property {number} target_project_id
 * @typedef {{ id: number, project_id: number, source: string, sha: string }} Pipeline
 * @typedef {{ id: number, name: string, artifacts_file?: object }} Job
 * @typedef {{ urn: string, id?: string, inputs?: object, outputs?: object }} Resource
 */

/**
 * @param {string} url
 * @returns {Promise<unknown>}
 */
const getJson = async (url) => (await get(url)).json();

/** @param {string} reason */
const refusal = (reason) =>
  new Error(
    `commit ${env.CI_COMMIT_SHA ?? env.GITHUB_SHA} has no reviewed plan, so nothing was changed. ${reason} Open a new request ` +
      "from a branch of this repository, an empty commit is enough: its preview makes a plan, and its merge applies it",
  );

const NOT_MERGED = "No request was merged with it.";

/**
 * A fork's pipeline gets no secrets, so it previews nothing. Whatever it keeps was made by a
 * stranger.
 * @param {string} request
 */
const ofFork = (request) =>
  refusal(`${request} comes from a fork. A fork's request is not previewed, and nothing that its jobs keep is used.`);

/** @param {string} request */
const noPlan = (request) =>
  refusal(
    `No preview of the last commit of ${request} has a plan: it failed, exceeded a cap, or its artifact has expired.`,
  );

/**
 * Downloads the newest artifact that this workflow has kept for the pull request's last commit.
 * Every run may keep an artifact of that name, also one of a fork. GitHub packs it.
 * @param {string} folder
 */
async function downloadFromGithub(folder) {
  const repository = `${env.GITHUB_API_URL}/repos/${env.GITHUB_REPOSITORY}`;
  const pulls = /** @type {PullRequest[]} */ (await getJson(`${repository}/commits/${env.GITHUB_SHA}/pulls`));
  const isOwn = (/** @type {Repository | null} */ place) => place?.full_name === env.GITHUB_REPOSITORY;
  const pull = pulls.find(({ merged_at, base }) => merged_at && isOwn(base.repo) && base.ref === env.GITHUB_REF_NAME);
  if (!pull) throw refusal(NOT_MERGED);
  const request = `pull request #${pull.number}`;
  if (!isOwn(pull.head.repo)) throw ofFork(request);

  const runOf = async (/** @type {number | string | undefined} */ id) =>
    /** @type {Run} */ (await getJson(`${repository}/actions/runs/${id}`));
  const { workflow_id } = await runOf(env.GITHUB_RUN_ID);
  const list = await getJson(`${repository}/actions/artifacts?name=plan-${pull.head.sha}&per_page=100`);
  const { artifacts } = /** @type {{ artifacts: Artifact[] }} */ (list);
  for (const { id, expired, workflow_run } of artifacts.sort((a, b) => b.id - a.id)) {
    if (expired || !workflow_run) continue;
    const run = await runOf(workflow_run.id);
    const isOfWorkflow = run.workflow_id === workflow_id && run.event === "pull_request";
    const isOfHead = isOwn(run.repository) && isOwn(run.head_repository) && run.head_sha === pull.head.sha;
    if (!isOfWorkflow || !isOfHead) continue;
    const archive = path.join(folder, "plan.zip");
    const packed = await get(`${repository}/actions/artifacts/${id}/zip`);
    writeFileSync(archive, Buffer.from(await packed.arrayBuffer()));
    execFileSync("unzip", ["-q", "-o", archive, ...FILES, "-d", folder]);
    return;
  }
  throw noPlan(request);
}

/**
 * Downloads the artifact of the job `preview` in the newest pipeline of the merge request's last
 * commit. A fork's pipelines, which the list has too, are of another project.
 * @param {string} folder
 */
async function downloadFromGitlab(folder) {
  const project = `${env.CI_API_V4_URL}/projects/${env.CI_PROJECT_ID}`;
  const list = await getJson(`${project}/repository/commits/${env.CI_COMMIT_SHA}/merge_requests`);
  const isOwn = (/** @type {number | null} */ id) => String(id) === env.CI_PROJECT_ID;
  const merged = /** @type {MergeRequest[]} */ (list).find(
    ({ state, target_project_id, target_branch }) =>
      state === "merged" && isOwn(target_project_id) && target_branch === env.CI_COMMIT_BRANCH,
  );
  if (!merged) throw refusal(NOT_MERGED);
  const request = `merge request !${merged.iid}`;
  if (!isOwn(merged.source_project_id)) throw ofFork(request);

  const pipelines = /** @type {Pipeline[]} */ (await getJson(`${project}/merge_requests/${merged.iid}/pipelines`));
  const newest = pipelines.find(
    ({ project_id, source, sha }) => isOwn(project_id) && source === "merge_request_event" && sha === merged.sha,
  );
  if (!newest) throw noPlan(request);
  const jobs = await getJson(`${project}/pipelines/${newest.id}/jobs?scope[]=success&per_page=100`);
  const preview = /** @type {Job[]} */ (jobs).find((each) => each.name === "preview" && each.artifacts_file);
  if (!preview) throw noPlan(request);
  for (const file of FILES) {
    const artifact = await get(`${project}/jobs/${preview.id}/artifacts/plan/${file}`);
    writeFileSync(path.join(folder, file), await artifact.text());
  }
}

/** @param {string} folder */
async function download(folder) {
  mkdirSync(folder, { recursive: true });
  await (env.GITLAB_CI ? downloadFromGitlab(folder) : downloadFromGithub(folder));
}

/**
 * Prints the resources in the stack that the plan changes. Secrets are left out: they are encrypted
 * anew each time.
 * @param {string} file
 */
function before(file) {
  /** @type {{ resourcePlans: Record<string, { steps?: string[] }> }} */
  const { resourcePlans } = JSON.parse(readFileSync(file, "utf8"));
  /** @type {{ deployment: { resources?: Resource[] } }} */
  const { deployment } = JSON.parse(readFileSync(0, "utf8"));
  const inStack = new Map((deployment.resources ?? []).map((each) => [each.urn, each]));
  const changed = Object.entries(resourcePlans).filter(([, { steps = [] }]) => steps.some((step) => step !== "same"));
  for (const [urn] of changed.sort()) {
    const { id, inputs, outputs } = inStack.get(urn) ?? {};
    const withoutSecrets = (/** @type {string} */ key, /** @type {unknown} */ value) =>
      key === "ciphertext" ? undefined : value;
    console.log(JSON.stringify({ urn, id, inputs, outputs }, withoutSecrets));
  }
}

/** @param {string[]} args */
async function main([step, file]) {
  if (step === "download" && file) await download(file);
  else if (step === "before" && file) before(file);
  else throw new Error("use plan.js download <folder> or plan.js before <plan>");
}

main(process.argv.slice(2)).catch((error) => {
  console.error(`plan.js: ${error.message}`);
  process.exitCode = 1;
});
