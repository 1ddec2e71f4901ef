import type { Api, Run } from "./runExplain";
import { type State, shows } from "./states/state";
import { KEY, PRIVATE } from "./world";

export const FAULTS = [
  "certain and wrong",
  "calm and wrong",
  "likely and wrong",
  "wrong advice",
  "not named",
  "leak",
] as const;

export interface Verdict {
  readonly state: State;
  readonly api: Api;
  readonly run: Run;
  readonly faults: readonly (typeof FAULTS)[number][];
}

const AT_LEAST_LIKELY = ["certain", "likely"];

export function judge(state: State, api: Api, run: Run): Verdict {
  const { causes, others } = run.answer;
  const { proven = [], fine = [], world } = state;
  const named = [...causes, ...others].filter(({ certainty }) => AT_LEAST_LIKELY.includes(certainty));
  const isTrue = (id: string) => state.causes.includes(id) || proven.includes(id) || fine.includes(id) || isPlain(id);
  const isPlain = (id: string) =>
    (id === "no-job-waits" && !world.jobs?.inQueue) ||
    (id === "nothing-wrong" && state.calm === true) ||
    (id === "no-queue" && world.kind === "LOAD_BALANCER");
  const isCalm = named.some(({ id }) => id === "nothing-wrong") || /nothing is wrong/i.test(run.answer.summary);
  const visible = shows(state, api);
  const found: Record<(typeof FAULTS)[number], boolean> = {
    "certain and wrong": named.some(({ id, certainty }) => certainty === "certain" && !proven.includes(id)),
    "calm and wrong": isCalm && !state.calm,
    "likely and wrong": visible && named.some(({ id }) => id !== "nothing-wrong" && !isTrue(id)),
    "wrong advice": state.never !== undefined && named.some(({ advice }) => state.never?.test(advice)),
    "not named": visible && state.causes.length > 0 && !named.some(({ id }) => state.causes.includes(id)),
    leak: run.printed.includes(PRIVATE) || run.printed.includes(KEY),
  };
  return { state, api, run, faults: FAULTS.filter((fault) => found[fault]) };
}

/** What it said, such as "no-stock (likely), cold-start (possible)". */
export function said({ answer: { causes, others } }: Run): string {
  const words = (list: typeof causes) => list.map(({ id, certainty }) => `${id} (${certainty})`).join(", ");
  return others.length > 0 ? `${words(causes)}; also ${words(others)}` : words(causes);
}
