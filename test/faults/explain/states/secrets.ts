import type { World } from "../world";
import { container, FULL_GPU_ADVICE, LOOP, STARTING, type State, starts, waiting, waits } from "./state";

const hf = { HF_TOKEN: "{{ RUNPOD_SECRET_hf }}", PLAIN: "hunter2-hunter2-hunter2" };
const starting = (env: World["env"], secrets: string[], world: World = {}): World =>
  waits([], { up: 30 }, { env, secrets, ...world });

export const secretStates: State[] = [
  {
    title: "a variable names a secret that does not exist",
    world: starting(hf, []),
    causes: ["missing-secret"],
    fine: ["cold-start"],
  },
  {
    title: "a variable names a secret, without blanks",
    world: starting({ A: "{{RUNPOD_SECRET_hf}}" }, ["other"]),
    causes: ["missing-secret"],
    fine: ["cold-start"],
  },
  {
    title: "a secret is named inside a longer value",
    world: starting({ A: "Bearer {{ RUNPOD_SECRET_hf }}" }, ["other"]),
    causes: ["missing-secret"],
    fine: ["cold-start"],
  },
  {
    title: "one of two secrets is missing",
    world: starting({ A: "{{ RUNPOD_SECRET_a }}", B: "{{ RUNPOD_SECRET_b }}" }, ["a"]),
    causes: ["missing-secret"],
    fine: ["cold-start"],
  },
  { title: "the secret exists", world: starting(hf, ["hf"]), causes: ["cold-start"] },
  {
    title: "the secret exists in another case",
    world: starting(hf, ["HF"]),
    causes: ["cold-start"],
    fine: ["missing-secret"],
  },
  {
    title: "the secret's name has a slash and a dot",
    world: starting({ A: "{{ RUNPOD_SECRET_team/hf.token-1 }}" }, ["team/hf.token-1"]),
    causes: ["cold-start"],
  },
  {
    title: "the secrets cannot be read",
    world: starting(hf, [], {
      faults: { secrets: { status: 403, body: { title: "Forbidden", status: 403, detail: "access denied" } } },
    }),
    causes: ["cold-start"],
    graphql: "none",
  },
  {
    title: "a secret is missing, and no worker is there yet",
    world: { jobs: waiting(2), env: hf },
    causes: ["missing-secret"],
    fine: ["cold-start"],
  },
  {
    title: "a secret is missing, and the log shows the crash that follows",
    world: waits(LOOP, {}, { env: hf }),
    causes: ["missing-secret", "crash-loop"],
    fine: ["cold-start"],
  },
  {
    title: "a secret is missing, and workers run and take jobs",
    world: waits(
      [...starts(900), container(890, STARTING), container(4, "Started.")],
      { status: "RUNNING", up: 900 },
      { env: hf, jobs: waiting(5, 1) },
    ),
    causes: ["workers-busy"],
    fine: ["missing-secret"],
  },
  {
    title: "a CPU endpoint lacks a secret",
    world: starting(hf, [], { cpu: true }),
    causes: ["missing-secret"],
    fine: ["cold-start"],
    never: FULL_GPU_ADVICE,
  },
];
