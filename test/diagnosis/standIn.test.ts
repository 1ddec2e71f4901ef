import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createClient } from "../../sdk/client/client";
import { type Answer, ask, IDS } from "./adapter";
import { SCENARIOS, stateOf } from "./standIn/hiddenScenarios";
import { problemsOf } from "./standIn/judge";
import { type Api, expectationFor, type Scenario } from "./standIn/scenario";
import { type Seen, startStandIn } from "./standIn/server";
import { PLANTED } from "./standIn/world";

// Judges a diagnosis by the published facts alone: what it may say, what it must say, and what it
// may call certain.

/** The requests of one diagnosis, retries included. */
const MOST_REQUESTS = 20;
/** A log is read for some seconds, and never ends by itself. */
const LONGEST_MS = 60_000;
const AT_ONCE = 8;

interface Run {
  readonly scenario: Scenario;
  readonly api: Api;
  readonly logs: boolean;
  readonly number: number;
}

interface Outcome {
  readonly answer: Answer;
  readonly seen: Seen;
  readonly apiKey: string;
  readonly tookMs: number;
}

const RUNS: readonly Run[] = SCENARIOS.flatMap((scenario) =>
  (scenario.apis ?? (["graphql", "v2"] as const)).flatMap((api) => [
    { scenario, api, logs: false },
    { scenario, api, logs: true },
  ]),
).map((run, number) => ({ ...run, number }));

const titleOf = ({ scenario, api, logs }: Run) => `${scenario.name} [${api}${logs ? ", logs" : ""}]`;

async function play({ scenario, api, logs, number }: Run): Promise<Outcome> {
  const world = stateOf(scenario, number);
  await using standIn = await startStandIn(world);
  const { graphqlUrl, restUrl, queueUrl, seen } = standIn;
  const { apiKey, endpointId, isContractOnly } = world;
  await using client = createClient({
    apiKey,
    api,
    graphqlUrl,
    restUrl,
    queueUrl,
    ...(!isContractOnly && { service: "runpod" as const }),
    // A service that fails must not take the time of the test.
    retry: { maxAttempts: 2, maxElapsedMs: 10_000 },
    attemptTimeoutMs: 3_000,
  });
  const begun = performance.now();
  const answer = await ask(client, endpointId, logs);
  return { answer, seen: structuredClone(seen), apiKey, tookMs: performance.now() - begun };
}

/** What no answer may hold. */
function leaksIn({ answer, apiKey }: Outcome): string[] {
  return [apiKey, ...Object.values(PLANTED)].filter((secret) => answer.text.includes(secret));
}

const outcomes = new Map<number, Outcome | Error>();

async function playAll(): Promise<void> {
  const left = [...RUNS];
  const next = async () => {
    for (let run = left.shift(); run; run = left.shift()) {
      const outcome = await play(run).catch((error: unknown) =>
        error instanceof Error ? error : new Error(String(error)),
      );
      outcomes.set(run.number, outcome);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

/** Writes the table of scenarios and answers. */
function writeTable(): void {
  const said = (outcome: Outcome | Error | undefined) =>
    outcome === undefined || outcome instanceof Error
      ? `error: ${outcome?.message.slice(0, 80)}`
      : outcome.answer.named.map(({ id, isCertain }) => (isCertain ? `**${id}**` : id)).join(", ");
  const lines = RUNS.map((run) => `| ${titleOf(run)} | ${said(outcomes.get(run.number))} |`);
  const folder = path.join(__dirname, "../../.scratch");
  mkdirSync(folder, { recursive: true });
  const head = ["| State | What the diagnosis says (**certain**) |", "|---|---|"];
  writeFileSync(path.join(folder, "diagnosis.md"), [...head, ...lines, ""].join("\n"));
}

describe("the diagnosis of an endpoint, judged by a stand-in for the service", () => {
  beforeAll(async () => {
    await playAll();
    writeTable();
  }, 900_000);

  test.each(RUNS.map((run) => [titleOf(run), run] as const))("The answer is correct when %s.", (_, run) => {
    const outcome = outcomes.get(run.number);
    if (!outcome || outcome instanceof Error) throw outcome ?? new Error("it did not end");
    const { scenario, api, logs } = run;
    const { answer, seen, tookMs } = outcome;
    const problems = problemsOf(answer.named, expectationFor(scenario, { api, ...seen }), IDS);
    const isBlind = scenario.needsLogs && logs && api === "v2" && !seen.sawLogs;
    expect({
      problems: [...problems, ...answer.lacks, ...(isBlind ? ["it has not read the log"] : [])],
      named: answer.named,
      leaks: leaksIn(outcome),
      violations: seen.violations,
      // A client may find out what a service without the newer fields has.
      unknownFields: scenario.state.isContractOnly ? [] : seen.unknownFields,
    }).toEqual({ problems: [], named: answer.named, leaks: [], violations: [], unknownFields: [] });
    expect(seen.requests.length).toBeLessThanOrEqual(MOST_REQUESTS);
    expect(tookMs).toBeLessThan(LONGEST_MS);
  });

  test("The answer contains no log lines without the option.", () => {
    const silent = RUNS.filter(({ logs }) => !logs).map(({ number }) => outcomes.get(number));
    const texts = silent.map((outcome) => (outcome instanceof Error ? "" : (outcome?.answer.text ?? "")));
    expect(texts.filter((text) => /ModuleNotFoundError|manifest unknown|a3ed95caeb02/.test(text))).toEqual([]);
  });
});
