import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { type RecordedRequest, type ScriptedAnswer, startScriptedServer } from "./scriptedServer";

interface Issue {
  readonly title: string;
  readonly labels: unknown;
  text: string;
  open: boolean;
}

/** The files that a job stored as an artifact, by name. */
export type Artifact = ReadonlyMap<string, Buffer>;

/** An artifact, and the run that stored it. */
export interface Kept {
  readonly name: string;
  readonly files: Artifact;
  /** The commit of the run. */
  readonly commit: string;
  /** @default this workflow's, for a request */
  readonly event?: string;
  readonly workflow?: number;
  readonly isOfFork?: boolean;
}

/** The last commit of a request that was merged. */
export interface Merged {
  readonly sha: string;
  readonly into?: string;
  readonly isOfFork?: boolean;
}

const TOKENS = { authorization: "Bearer github-token", "private-token": "gitlab-token" };

const WORKFLOW = 1;
/** The run that sends the requests. */
const OWN_RUN = "1234";

const repositoryOf = (isOfFork = false) => ({ full_name: isOfFork ? "stranger/endpoints" : "example/endpoints" });
const projectOf = (isOfFork = false) => (isOfFork ? 43 : 42);

/** Packs files as the host does. */
function zip(files: Artifact): Buffer {
  const folder = mkdtempSync(path.join(os.tmpdir(), "artifact-"));
  for (const [name, content] of files) writeFileSync(path.join(folder, name), content);
  execFileSync("zip", ["-q", "packed.zip", ...files.keys()], { cwd: folder });
  const packed = readFileSync(path.join(folder, "packed.zip"));
  rmSync(folder, { recursive: true });
  return packed;
}

/**
 * The parts of the GitHub and GitLab interfaces that the example's scripts use: comments of one
 * pull or merge request (both number theirs from 1), issues, and the artifacts of its previews.
 * Lists come in pages. Each token is valid only at its own host.
 */
export async function startGitHost({ comments = [] }: { readonly comments?: readonly string[] } = {}) {
  const all = [...comments];
  const issues: Issue[] = [];
  /** The artifacts of previews, oldest first. */
  const artifacts: Kept[] = [];
  /** The merged request, by merge commit. */
  const merges = new Map<string, Merged>();
  const server = await startScriptedServer((request) => answer(request));

  function answer({ method, path, query, headers, body }: RecordedRequest): ScriptedAnswer {
    const atGithub = path.startsWith("/repos/example/endpoints/");
    if (!atGithub && !path.startsWith("/projects/42/")) return { status: 404, body: { message: "Not Found" } };
    const header = atGithub ? "authorization" : "private-token";
    if (headers[header] !== TOKENS[header]) return { status: 401, body: { message: "Bad credentials" } };

    const page = (list: readonly object[]) => {
      const size = Number(query.per_page);
      return { body: list.slice((Number(query.page) - 1) * size).slice(0, size) };
    };
    const found = atGithub ? githubPlan(path, query) : gitlabPlan(path);
    if (method === "GET" && found !== undefined) return { body: found };

    const sent = body === "" ? {} : JSON.parse(body);
    const update = atGithub ? "PATCH" : "PUT";
    if (/\/(issues|merge_requests)\/7\/(comments|notes)$/.test(path)) {
      if (method === "GET") return page(all.map((text, index) => ({ id: index + 1, body: text })));
      if (method === "POST") return { status: 201, body: { id: all.push(sent.body) } };
    }
    const [, comment] = /\/(?:issues\/comments|merge_requests\/7\/notes)\/(\d+)$/.exec(path) ?? [];
    if (comment && method === update) {
      all[Number(comment) - 1] = sent.body;
      return { body: {} };
    }
    const [text, number] = atGithub ? (["body", "number"] as const) : (["description", "iid"] as const);
    if (path.endsWith("/issues")) {
      if (method === "POST") {
        issues.push({ title: sent.title, labels: sent.labels, text: sent[text], open: true });
        return { status: 201, body: {} };
      }
      const wanted = query.labels === "drift" && query.state === (atGithub ? "open" : "opened");
      const open = issues.map((issue, index) => ({ [number]: index + 1, [text]: issue.text, open: issue.open }));
      if (method === "GET" && wanted) return page(open.filter((issue) => issue.open));
    }
    const issue = issues[Number(/\/issues\/(\d+)$/.exec(path)?.[1]) - 1];
    if (issue && method === update) {
      issue.text = sent[text] ?? issue.text;
      if (sent.state === "closed" || sent.state_event === "close") issue.open = false;
      return { body: {} };
    }
    return { status: 404, body: { message: "Not Found" } };
  }

  function githubPlan(path: string, { name = "" }: RecordedRequest["query"]): unknown {
    const [, merge] = /\/commits\/(\w+)\/pulls$/.exec(path) ?? [];
    if (merge)
      return mergedBy(merge, ({ sha, into, isOfFork }) => ({
        number: 7,
        merged_at: "2026-05-02T12:00:00Z",
        head: { sha, ref: "branch", repo: repositoryOf(isOfFork) },
        base: { sha: "0", ref: into, repo: repositoryOf(false) },
      }));
    if (path.endsWith("/actions/artifacts")) {
      const all = artifacts.map((each, id) => ({ id, name: each.name, expired: false, workflow_run: { id } }));
      return { artifacts: all.filter((each) => each.name === name) };
    }
    if (path.endsWith(`/actions/runs/${OWN_RUN}`)) return { workflow_id: WORKFLOW, event: "push" };
    const [, run] = /\/actions\/runs\/(\d+)$/.exec(path) ?? [];
    const kept = artifacts[Number(run)];
    if (kept)
      return {
        workflow_id: kept.workflow ?? WORKFLOW,
        event: kept.event ?? "pull_request",
        head_sha: kept.commit,
        repository: repositoryOf(false),
        head_repository: repositoryOf(kept.isOfFork),
      };
    const [, id] = /\/actions\/artifacts\/(\d+)\/zip$/.exec(path) ?? [];
    const artifact = artifacts[Number(id)];
    return artifact && zip(artifact.files);
  }

  /** Each artifact belongs to its own pipeline with one job. */
  function gitlabPlan(path: string): unknown {
    const [, merge] = /\/commits\/(\w+)\/merge_requests$/.exec(path) ?? [];
    if (merge)
      return mergedBy(merge, ({ sha, into, isOfFork }) => ({
        iid: 7,
        state: "merged",
        sha,
        target_branch: into,
        source_project_id: projectOf(isOfFork),
        target_project_id: projectOf(false),
      }));
    const pipelines = artifacts.map(({ commit, event, isOfFork }, id) => ({
      id,
      project_id: projectOf(isOfFork),
      source: event ?? "merge_request_event",
      sha: commit,
    }));
    if (path.endsWith("/merge_requests/7/pipelines")) return pipelines.reverse();
    const [, pipeline] = /\/pipelines\/(\d+)\/jobs$/.exec(path) ?? [];
    if (pipeline) return [{ id: Number(pipeline), name: "preview", artifacts_file: {} }];
    const [, job, file = ""] = /\/jobs\/(\d+)\/artifacts\/plan\/(.+)$/.exec(path) ?? [];
    return artifacts[Number(job)]?.files.get(file);
  }

  function mergedBy(commit: string, describe: (request: Merged) => object): object[] {
    const request = merges.get(commit);
    return request ? [describe({ into: "main", ...request })] : [];
  }

  /** The variables that the host's own runners set. */
  const githubEnv = {
    GITHUB_API_URL: server.url,
    GITHUB_REPOSITORY: "example/endpoints",
    GITHUB_SERVER_URL: "https://github.example",
    GITHUB_REF_NAME: "main",
    GITHUB_RUN_ID: OWN_RUN,
  };
  const gitlabEnv = {
    GITLAB_CI: "true",
    CI_API_V4_URL: server.url,
    CI_PROJECT_ID: "42",
    CI_MERGE_REQUEST_IID: "7",
    CI_JOB_URL: "https://gitlab.example/job/12",
  };
  return {
    comments: all as readonly string[],
    issues: issues as readonly Readonly<Issue>[],
    artifacts,
    merges,
    githubEnv,
    gitlabEnv,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
