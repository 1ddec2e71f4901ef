import { type RecordedRequest, type ScriptedAnswer, startScriptedServer } from "./scriptedServer";

interface Issue {
  readonly title: string;
  readonly labels: unknown;
  text: string;
  open: boolean;
}

const TOKENS = { authorization: "Bearer github-token", "private-token": "gitlab-token" };

/**
 * As much of the interfaces of GitHub and GitLab as posting a report takes: comments of one pull or
 * merge request (both number theirs from 1), and issues. Lists come in pages. Each token is good at
 * its own host only.
 */
export async function startGitHost({ comments = [] }: { readonly comments?: readonly string[] } = {}) {
  const all = [...comments];
  const issues: Issue[] = [];
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

  /** The variables that the host's own runners set. */
  const githubEnv = {
    GITHUB_API_URL: server.url,
    GITHUB_REPOSITORY: "example/endpoints",
    GITHUB_SERVER_URL: "https://github.example",
    GITHUB_RUN_ID: "12",
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
    githubEnv,
    gitlabEnv,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
