import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { FAULTS, judge, said, type Verdict } from "./oracle";
import { runExplain } from "./runExplain";
import { access } from "./states/access";
import { anew } from "./states/anew";
import { balancers } from "./states/balancers";
import { crashes } from "./states/crashes";
import { doubles } from "./states/doubles";
import { further } from "./states/further";
import { limits } from "./states/limits";
import { asCpu, loaded } from "./states/loaded";
import { pools } from "./states/pools";
import { pulls } from "./states/pulls";
import { quiet } from "./states/quiet";
import { secretStates } from "./states/secrets";
import { apisOf, type State, shows } from "./states/state";
import { stock } from "./states/stock";

/* Needs the build. `EXPLAIN_ONLY=<part of a title>` runs some states, and prints all answers. */

/** Git-ignored. */
const REPORT = path.resolve(__dirname, "../../../.scratch/faults", process.env.EXPLAIN_REPORT ?? "explain.md");
const ONLY = process.env.EXPLAIN_ONLY;
/** Most of a run is a wait for the start of a process. */
const AT_ONCE = 3;

const queues = [...quiet, ...loaded];
const cpuStates = queues.filter(({ title }) => title.length % 3 === 0).map(asCpu);
const states: State[] = [
  access,
  anew,
  balancers,
  limits,
  stock,
  crashes,
  doubles,
  further,
  pools,
  pulls,
  secretStates,
  queues,
  cpuStates,
]
  .flat()
  .filter(({ title }) => ONLY === undefined || title.includes(ONLY));

let verdicts: Verdict[] = [];

beforeAll(async () => {
  const home = mkdtempSync(path.join(tmpdir(), "explain-"));
  const plays = states.flatMap((state) => apisOf(state).map((api) => ({ state, api })));
  const next = async (): Promise<Verdict[]> => {
    const play = plays.shift();
    if (!play) return [];
    const verdict = judge(play.state, play.api, await runExplain(play.state.world, play.api, home));
    return [verdict, ...(await next())];
  };
  try {
    const judged = (await Promise.all(Array.from({ length: AT_ONCE }, next))).flat();
    verdicts = judged.sort((a, b) => states.indexOf(a.state) - states.indexOf(b.state));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}, 1_800_000);

/** In how many runs that show the cause it was named, likely or better. */
function byCause(): string[] {
  const shown = verdicts.filter(({ state, api }) => shows(state, api));
  const causes = [...new Set(shown.flatMap(({ state }) => state.causes))].sort();
  return causes.map((cause) => {
    const trueIn = shown.filter(({ state }) => state.causes.includes(cause));
    const named = trueIn.filter(({ faults }) => !faults.includes("not named"));
    return `| ${cause} | ${trueIn.length} | ${named.length} |`;
  });
}

afterAll(() => {
  const counted = FAULTS.map(
    (fault) => `| ${fault} | ${verdicts.filter(({ faults }) => faults.includes(fault)).length} |`,
  );
  const wrong = verdicts.filter(({ faults }) => faults.length > 0 || ONLY !== undefined);
  const rows = wrong.map(({ state, api, run, faults }) =>
    [`| ${state.title}`, api, faults.join(", "), said(run), `${state.causes.join(" or ")} |`].join(" | "),
  );
  const text = [
    `${states.length} states, ${verdicts.length} runs`,
    ["| fault | runs |", "|---|---|", ...counted].join("\n"),
    ["| cause | true in runs | it or another true cause named |", "|---|---|---|", ...byCause()].join("\n"),
    ["| state | API | fault | said | true |", "|---|---|---|---|---|", ...rows].join("\n"),
  ].join("\n\n");
  mkdirSync(path.dirname(REPORT), { recursive: true });
  writeFileSync(REPORT, `${text}\n`);
  process.stdout.write(`${text}\n`);
  if (ONLY)
    for (const { run } of verdicts)
      process.stdout.write(`${JSON.stringify(run.answer, null, 1)}\n${run.requests.join("\n")}\n`);
});

test.each(FAULTS)("no state of an endpoint is explained with the fault: %s", (fault) => {
  const found = verdicts.filter(({ faults }) => faults.includes(fault));
  expect(found.map(({ state, api, run }) => `${state.title} [${api}]: ${said(run)}`)).toEqual([]);
});

test("titles are unique, so that a state can be run alone", () => {
  expect(new Set(states.map(({ title }) => title)).size).toBe(states.length);
});
