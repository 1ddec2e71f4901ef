import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createClient } from "../../sdk/client/client";
import type { Api } from "./standIn/scenario";
import { startStandIn } from "./standIn/server";
import { world } from "./standIn/world";
import { ACCESS } from "./states/access";
import { CAPACITY } from "./states/capacity";
import { CONTAINERS } from "./states/containers";
import { problemsOf, type Said } from "./states/judge";
import type { State } from "./states/state";
import { WORK } from "./states/work";

// Plays each state over each API, and judges the answer by the truth: nothing certain may be wrong,
// calm may not be false, and the true cause must be named.

const AT_ONCE = 12;

interface Run {
  readonly state: State;
  readonly api: Api;
  readonly number: number;
}

const RUNS: readonly Run[] = [...ACCESS, ...CAPACITY, ...CONTAINERS, ...WORK]
  .flatMap((state) =>
    (state.logs ? (["v2"] as const) : (state.apis ?? (["graphql", "v2"] as const))).map((api) => ({ state, api })),
  )
  .map((run, number) => ({ ...run, number }));

const titleOf = ({ state, api }: Run) => `${state.name} [${api}]`;

async function play({ state, api, number }: Run): Promise<Said> {
  const id = `ep${number}run`;
  await using standIn = await startStandIn({ ...world(state.world), endpointId: id, apiKey: `rpa_run${number}` });
  const { graphqlUrl, restUrl, queueUrl } = standIn;
  await using client = createClient({
    apiKey: `rpa_run${number}`,
    api,
    graphqlUrl,
    restUrl,
    queueUrl,
    service: "runpod",
    retry: { maxAttempts: 1, maxElapsedMs: 5_000 },
    attemptTimeoutMs: 3_000,
  });
  const { causes, others, evidence } = await client.endpoints.diagnose(id, { logs: state.logs === true });
  return { causes, others, evidence: evidence.map(({ text }) => text) };
}

const answers = new Map<number, Said | Error>();

/** Writes what was said of each state, and how often each cause was named. */
function writeTable(): void {
  const rows = RUNS.map(({ state, api, number }) => {
    const answer = answers.get(number);
    const said = answer === undefined || answer instanceof Error ? { causes: [], others: [], evidence: [] } : answer;
    const words = [...said.causes, ...said.others].map(({ id, certainty }) => `${id} (${certainty})`).join(", ");
    const problems = answer instanceof Error ? [answer.message] : problemsOf(state, said);
    return { title: `${state.name} [${api}]`, truth: state.truth, words, problems };
  });
  const folder = path.join(__dirname, "../../.scratch");
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "states.json"), JSON.stringify(rows, undefined, 1));
}

describe("the diagnosis in states whose truth is known", () => {
  beforeAll(async () => {
    const left = [...RUNS];
    const next = async () => {
      for (let run = left.shift(); run; run = left.shift()) {
        const error = (thrown: unknown) => (thrown instanceof Error ? thrown : new Error(String(thrown)));
        answers.set(run.number, await play(run).catch(error));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, next));
    writeTable();
  }, 900_000);

  test.each(RUNS.map((run) => [titleOf(run), run] as const))("The answer is true when %s.", (_, { state, number }) => {
    const answer = answers.get(number);
    if (!answer || answer instanceof Error) throw answer ?? new Error("it did not end");
    expect({ problems: problemsOf(state, answer), answer }).toEqual({ problems: [], answer });
  });

  test("There are at least 150 states, of queue, load-balancing and CPU endpoints.", () => {
    const kinds = RUNS.map(
      ({ state }) => state.world.endpoint?.type ?? (state.world.endpoint?.isCpu ? "CPU" : "QUEUE"),
    );
    expect(RUNS.length).toBeGreaterThanOrEqual(150);
    expect(new Set(kinds)).toEqual(new Set(["QUEUE", "CPU", "LOAD_BALANCER"]));
  });
});
