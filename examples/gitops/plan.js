/**
 * The plan of a reviewed preview, which `pipeline.sh preview` saves and `pipeline.sh up` applies.
 *
 *   node plan.js download <folder>   downloads the plan of the pull or merge request that the current commit merged
 *   node plan.js before <plan>       reads `pulumi stack export` from stdin, and prints what the stack holds of the resources
 *                                    that the plan changes. Pulumi does not compare this when it applies a plan
 *
 * Environment: the variables that the CI sets, and GITHUB_TOKEN, or at GitLab GITLAB_TOKEN, as for post.js.
 */
const { execFileSync } = require("node:child_process");
const { mkdirSync, readFileSync, writeFileSync } = require("node:fs");
const path = require("node:path");

const FILES = ["plan.json", "plan.json.before"];
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
 * @typedef {{ merged_at: string | null, head: { sha: string } }} PullRequest
 * @typedef {{ id: number, expired: boolean }} Artifact
 * @typedef {{ iid: number, state: string }} MergeRequest
 * @typedef {{ id: number, name: string, artifacts_file?: object }} Job
 * @typedef {{ urn: string, id?: string, inputs?: object, outputs?: object }} Resource
 */

/**
 * @param {string} url
 * @returns {Promise<unknown>}
 */
const getJson = async (url) => (await get(url)).json();

/**
 * Downloads the newest artifact of the pull request's last commit. GitHub packs it.
 * @param {string} folder
 */
async function downloadFromGithub(folder) {
  const repository = `${env.GITHUB_API_URL}/repos/${env.GITHUB_REPOSITORY}`;
  const pulls = /** @type {PullRequest[]} */ (await getJson(`${repository}/commits/${env.GITHUB_SHA}/pulls`));
  const pull = pulls.find((each) => each.merged_at);
  if (!pull) return false;
  const list = await getJson(`${repository}/actions/artifacts?name=plan-${pull.head.sha}`);
  const { artifacts } = /** @type {{ artifacts: Artifact[] }} */ (list);
  const [newest] = artifacts.filter((each) => !each.expired).sort((a, b) => b.id - a.id);
  if (!newest) return false;
  const archive = path.join(folder, "plan.zip");
  const packed = await get(`${repository}/actions/artifacts/${newest.id}/zip`);
  writeFileSync(archive, Buffer.from(await packed.arrayBuffer()));
  execFileSync("unzip", ["-q", "-o", archive, ...FILES, "-d", folder]);
  return true;
}

/**
 * Downloads the artifact of the job `preview` in the last pipeline of the merge request.
 * @param {string} folder
 */
async function downloadFromGitlab(folder) {
  const project = `${env.CI_API_V4_URL}/projects/${env.CI_PROJECT_ID}`;
  const list = await getJson(`${project}/repository/commits/${env.CI_COMMIT_SHA}/merge_requests`);
  const merged = /** @type {MergeRequest[]} */ (list).find((each) => each.state === "merged");
  if (!merged) return false;
  const pipelines = await getJson(`${project}/merge_requests/${merged.iid}/pipelines`);
  const [newest] = /** @type {{ id: number }[]} */ (pipelines);
  if (!newest) return false;
  const jobs = await getJson(`${project}/pipelines/${newest.id}/jobs?scope[]=success&per_page=100`);
  const preview = /** @type {Job[]} */ (jobs).find((each) => each.name === "preview" && each.artifacts_file);
  if (!preview) return false;
  for (const file of FILES) {
    const artifact = await get(`${project}/jobs/${preview.id}/artifacts/plan/${file}`);
    writeFileSync(path.join(folder, file), await artifact.text());
  }
  return true;
}

/** @param {string} folder */
async function download(folder) {
  mkdirSync(folder, { recursive: true });
  if (await (env.GITLAB_CI ? downloadFromGitlab(folder) : downloadFromGithub(folder))) return;
  throw new Error(
    `commit ${env.CI_COMMIT_SHA ?? env.GITHUB_SHA} has no reviewed plan, so nothing was changed. It was not merged by a request, ` +
      "the preview of that request failed, or its artifact has expired. Open a new request, an empty commit is enough: " +
      "its preview makes a plan, and its merge applies it",
  );
}

/**
 * Prints the resources in the stack that the plan changes. Secrets are left out: they are encrypted anew each time.
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
