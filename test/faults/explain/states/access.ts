import type { Fault, World } from "../world";
import { type State, starts, traceback, waiting } from "./state";

const own = (status: number, detail: string): Fault => ({
  status,
  body: { title: status === 401 ? "Unauthorized" : "Forbidden", status, detail },
});
const HTML = (status: number): Fault => ({ status, html: "<html><body><h1>error code: 1010</h1></body></html>" });
const refused = {
  errors: [{ message: "Unauthorized", path: ["myself"], extensions: { code: "RUNPOD" } }],
  data: { myself: null },
};
const busy: World = {
  max: 2,
  jobs: waiting(4, 2),
  workers: [
    { id: "a", status: "RUNNING", up: 99 },
    { id: "b", status: "RUNNING", up: 99 },
  ],
};
const crashing: World = {
  jobs: waiting(2),
  max: 1,
  workers: [
    {
      id: "a",
      status: "INITIALIZING",
      up: 100,
      log: [...starts(90), ...traceback(80), ...starts(60), ...traceback(50), ...starts(30), ...traceback(20)],
    },
  ],
};

/** Existence, access to it, and what its settings say. */
export const access: State[] = [
  {
    title: "it does not exist, and everything says so",
    world: { absent: "everywhere" },
    causes: ["not-found"],
    proven: ["not-found"],
  },
  {
    title: "management lacks it, but the queue has jobs of it",
    world: { absent: "management", jobs: waiting(3) },
    causes: [],
    fine: ["not-found", "no-access"],
  },
  {
    title: "only the single read misses it, and the list shows it",
    world: { absent: "single", jobs: waiting(3) },
    causes: [],
    fine: ["cold-start", "scaling-rule"],
  },
  {
    title: "only the single read misses it, while its workers are busy",
    world: { ...busy, absent: "single" },
    causes: [],
    fine: ["workers-busy"],
  },
  { title: "only the list lacks it", world: { ...busy, absent: "list" }, causes: ["workers-busy"] },
  {
    title: "it does not exist, and the list has 400 others",
    world: { absent: "everywhere", crowd: 400 },
    causes: ["not-found"],
    v2: "none",
    proven: [],
  },
  {
    title: "it does not exist, and the list cannot be read",
    world: { absent: "everywhere", faults: { list: own(403, "access denied") } },
    causes: ["not-found"],
    fine: ["no-access"],
    graphql: "none",
  },
  {
    title: "every path answers 404 with a page, because the URL is wrong",
    world: { faults: { management: HTML(404), health: HTML(404), graphql: HTML(404) } },
    causes: [],
    fine: ["not-found"],
  },
  {
    title: "every path answers 404 in a form that is not the service's",
    world: {
      faults: {
        management: { status: 404, body: { message: "no Route matched" } },
        health: { status: 404, body: { message: "no Route matched" } },
      },
    },
    causes: [],
    fine: ["not-found"],
    graphql: "none",
  },
  {
    title: "the key is wrong everywhere",
    world: {
      faults: {
        management: own(401, "invalid api key"),
        health: own(401, "invalid api key"),
        graphql: own(401, "invalid api key"),
      },
    },
    causes: ["no-access"],
    proven: ["no-access"],
  },
  {
    title: "the key is refused everywhere with 403 in the own form",
    world: {
      faults: {
        management: own(403, "access denied"),
        health: own(403, "access denied"),
        graphql: own(403, "access denied"),
      },
    },
    causes: ["no-access"],
    proven: ["no-access"],
  },
  {
    title: "a gateway refuses everything with a page",
    world: { faults: { management: HTML(403), health: HTML(403), graphql: HTML(403) } },
    causes: [],
    fine: ["no-access"],
  },
  {
    title: "a gateway refuses management with a page, and jobs wait",
    world: { ...busy, faults: { management: HTML(403), graphql: HTML(403) } },
    causes: [],
    fine: ["no-access", "workers-busy", "rollout"],
  },
  {
    title: "management refuses the key in its own form, and the queue answers",
    world: { ...busy, faults: { management: own(403, "access denied"), graphql: { status: 200, body: refused } } },
    causes: ["no-access"],
    proven: ["no-access"],
    fine: ["workers-busy"],
  },
  {
    title: "only the queue refuses the key",
    world: { ...busy, faults: { health: own(401, "invalid api key") } },
    causes: ["no-access"],
    proven: ["no-access"],
    fine: ["workers-busy"],
  },
  {
    title: "only the queue is refused, by a gateway's page",
    world: { ...busy, faults: { health: HTML(403) } },
    causes: [],
    fine: ["no-access", "workers-busy"],
  },
  {
    title: "the key has no identity",
    world: { faults: { graphql: { status: 200, body: { data: { myself: null } } } } },
    causes: ["no-access"],
    proven: ["no-access"],
    v2: "none",
  },
  {
    title: "the resolver of the account fails",
    world: {
      ...busy,
      faults: {
        graphql: {
          status: 200,
          body: {
            errors: [{ message: "Something went wrong.", extensions: { code: "INTERNAL_SERVER_ERROR" } }],
            data: { myself: null },
          },
        },
      },
    },
    causes: [],
    fine: ["no-access", "workers-busy", "rollout"],
    v2: "none",
  },
  {
    title: "GraphQL refuses the key inside a 200",
    world: { faults: { graphql: { status: 200, body: refused }, health: own(401, "x") } },
    causes: ["no-access"],
    proven: ["no-access"],
    v2: "none",
  },
  {
    title: "GraphQL has ended",
    world: { ...busy, faults: { graphql: { status: 410, body: { title: "Gone", status: 410, detail: "retired" } } } },
    causes: [],
    fine: ["workers-busy", "rollout"],
    v2: "none",
  },
  {
    title: "the key may not read the limits",
    world: { ...busy, faults: { limits: own(403, "access denied") } },
    causes: ["workers-busy"],
    graphql: "none",
  },
  {
    title: "the key may not read logs, and a worker is unhealthy",
    world: {
      jobs: waiting(2),
      workers: [{ id: "a", status: "UNHEALTHY", up: 600 }],
      faults: { logs: own(403, "access denied") },
    },
    causes: ["crash-loop", "image-pull"],
    graphql: "none",
  },
  {
    title: "the key may not read releases",
    world: { ...busy, faults: { releases: own(403, "access denied") } },
    causes: ["workers-busy"],
    graphql: "none",
  },
  {
    title: "the key may not read the endpoint, but everything else",
    world: { ...busy, faults: { endpoint: own(403, "access denied") } },
    causes: [],
    fine: ["no-access", "workers-busy"],
    graphql: "none",
  },
  {
    title: "the endpoint's read fails, and the log shows a crash loop",
    world: { ...crashing, faults: { endpoint: own(403, "access denied") } },
    causes: ["crash-loop"],
    fine: ["no-access"],
    graphql: "none",
  },
  {
    title: "the endpoint's read is missing, and the log shows a crash loop",
    world: { ...crashing, absent: "single" },
    causes: ["crash-loop"],
    graphql: "none",
  },
  {
    title: "it is off, and jobs wait",
    world: { max: 0, jobs: waiting(2) },
    causes: ["no-workers-allowed"],
    proven: ["no-workers-allowed"],
  },
  {
    title: "it is off, and nothing waits",
    world: { max: 0 },
    causes: ["no-workers-allowed"],
    proven: ["no-workers-allowed"],
  },
  {
    title: "it is off, and the queue cannot be read",
    world: { max: 0, faults: { health: own(400, "bad request") } },
    causes: ["no-workers-allowed"],
    proven: ["no-workers-allowed"],
  },
  {
    title: "it is off, and a last worker ends its job",
    world: { max: 0, jobs: waiting(1, 1), workers: [{ id: "a", status: "RUNNING", up: 60 }] },
    causes: ["no-workers-allowed"],
    proven: ["no-workers-allowed"],
    fine: ["jobs-running", "workers-stopping"],
  },
  {
    title: "it is off, and its log shows an old crash",
    world: { ...crashing, max: 0 },
    causes: ["no-workers-allowed"],
    proven: ["no-workers-allowed"],
    fine: ["crash-loop", "cold-start"],
  },
  {
    title: "it is off, and so many workers run that the maximum was lowered a moment ago",
    world: { ...busy, max: 0 },
    causes: ["no-workers-allowed"],
    proven: ["no-workers-allowed"],
    fine: ["jobs-running"],
  },
  {
    title: "it is off, and the quota is used up",
    world: { max: 0, jobs: waiting(1), limits: { quota: 5 }, others: [5] },
    causes: ["no-workers-allowed"],
    proven: ["no-workers-allowed"],
    fine: ["worker-quota"],
    never: /^Raise workersMax/,
  },
];
