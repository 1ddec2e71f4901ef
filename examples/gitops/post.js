/**
 * Posts report.md, which report.sh writes, to GitHub or GitLab:
 * - the report of `drift` as one issue for each stack, which it opens, updates, and closes when
 *   there is no more drift;
 * - any other report as a comment on the pull or merge request, one for each step and stack, which
 *   later runs update.
 *
 * Environment: the variables that the CI sets, and GITHUB_TOKEN, and PULL_REQUEST with the number
 * at GitHub GITLAB_TOKEN at GitLab: an access token of the project with the scope `api`
 */
const { readFileSync } = require("node:fs");
const path = require("node:path");

/** GitHub allows 65,536 characters. */
const LONGEST_TEXT = 60_000;
const TIMEOUT_MS = 30_000;

/**
 * The paths of one kind of posts, and the names of their fields.
 * @typedef {object} Posts
 * @property {string} path of the list, to which new posts are sent too
 * @property {string} folder of single posts, before their id
 * @property {string} id
 * @property {string} text
 */

const { env } = process;

const github = () => {
  const repository = `/repos/${env.GITHUB_REPOSITORY}`;
  return {
    url: env.GITHUB_API_URL,
    headers: { authorization: `Bearer ${env.GITHUB_TOKEN}`, accept: "application/vnd.github+json" },
    update: "PATCH",
    log: `${env.GITHUB_SERVER_URL}/${env.GITHUB_REPOSITORY}/actions/runs/${env.GITHUB_RUN_ID}`,
    comments: {
      path: `${repository}/issues/${env.PULL_REQUEST}/comments`,
      folder: `${repository}/issues/comments`,
      id: "id",
      text: "body",
    },
    issues: {
      path: `${repository}/issues`,
      folder: `${repository}/issues`,
      id: "number",
      text: "body",
    },
    openWithLabel: "state=open&labels=drift",
    label: { labels: ["drift"] },
    closed: { state: "closed" },
  };
};

const gitlab = () => {
  const project = `/projects/${env.CI_PROJECT_ID}`;
  const notes = `${project}/merge_requests/${env.CI_MERGE_REQUEST_IID}/notes`;
  return {
    url: env.CI_API_V4_URL,
    headers: { "private-token": `${env.GITLAB_TOKEN}` },
    update: "PUT",
    log: env.CI_JOB_URL,
    comments: { path: notes, folder: notes, id: "id", text: "body" },
    issues: {
      path: `${project}/issues`,
      folder: `${project}/issues`,
      id: "iid",
      text: "description",
    },
    openWithLabel: "state=opened&labels=drift",
    label: { labels: "drift" },
    closed: { state_event: "close" },
  };
};

const host = env.GITLAB_CI ? gitlab() : github();

/**
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<unknown>}
 */
async function send(method, path, body) {
  const response = await fetch(`${host.url}${path}`, {
    method,
    headers: { ...host.headers, "content-type": "application/json", "user-agent": "serverless-gpu-pipeline" },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok)
    throw new Error(`${method} ${path} failed with status ${response.status}: ${await response.text()}`);
  return response.json();
}

/**
 * Returns the id of the post that begins with the marker.
 * @param {Posts} posts
 * @param {string} marker
 * @param {string} [filter]
 * @returns {Promise<string | undefined>}
 */
async function find(posts, marker, filter = "") {
  for (let page = 1; ; page++) {
    const list = await send("GET", `${posts.path}?per_page=100&page=${page}&${filter}`);
    const found = /** @type {Record<string, string | null>[]} */ (list);
    const ours = found.find((post) => post[posts.text]?.startsWith(marker));
    if (ours) return String(ours[posts.id]);
    if (found.length < 100) return undefined;
  }
}

/**
 * Updates the post, or creates it if there is none.
 * @param {Posts} posts
 * @param {string | undefined} id
 * @param {string} text
 * @param {object} [more] additional fields of a new post
 */
const save = (posts, id, text, more) =>
  id === undefined
    ? send("POST", posts.path, { ...more, [posts.text]: text })
    : send(host.update, `${posts.folder}/${id}`, { [posts.text]: text });

async function post() {
  const report = readFileSync(path.join(__dirname, "report.md"), "utf8");
  const [, marker = "", step, exitCode] = /^(<!-- pipeline (\S+) \S+ )(\d+) -->\n/.exec(report) ?? [];
  if (!step) throw new Error("report.md is not what report.sh writes");
  const cut = report.length > LONGEST_TEXT ? `${report.slice(0, LONGEST_TEXT)}\n\n… and more, in the log.` : report;
  const text = `${cut}\n\n[Log](${host.log})\n`;

  if (step !== "drift") return save(host.comments, await find(host.comments, marker), text);
  const issue = await find(host.issues, marker, host.openWithLabel);
  if (exitCode !== "0") {
    const title = /^### (.*)$/m.exec(report)?.[1]?.replaceAll("`", "");
    return save(host.issues, issue, text, { title, ...host.label });
  }
  if (issue !== undefined)
    await send(host.update, `${host.issues.folder}/${issue}`, { [host.issues.text]: text, ...host.closed });
}

post().catch((error) => {
  console.error(`post.js: ${error.message}`);
  process.exitCode = 1;
});
