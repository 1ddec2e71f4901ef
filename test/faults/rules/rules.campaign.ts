import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { playNumbered } from "../playNumbered";
import type { Problem } from "./oracle";
import { described, playRandom, replay, type Sequence } from "./run";
import { APIS, FORMS } from "./stack";

/**
 * Random sequences of a user's actions against a service that lies, judged by an oracle that knows
 * only the rules: a write changes what the preview showed, and nothing else; nothing is replaced or
 * deleted that the program did not change; every difference that remains was said.
 *
 * `RULES_SEED`, `RULES_STEPS` (for each form and API), `RULES_FORM`, `RULES_API` and
 * `RULES_WORKERS` choose what is played, `RULES_ONLY=3,17` single sequences. Sequences that passed
 * are not played again. A failed one is printed as `RULES_REPLAY`.
 */
const SEED = Number(process.env.RULES_SEED ?? 1);
const STEPS = Number(process.env.RULES_STEPS ?? 300);
const WORKERS = Number(process.env.RULES_WORKERS ?? 2);
const ONLY = process.env.RULES_ONLY?.split(",").map(Number);
const STEPS_EACH = 12;
const FOLDER = path.resolve(__dirname, "../../../.scratch/faults");
const forms = FORMS.filter((form) => (process.env.RULES_FORM ?? form) === form);
const apis = APIS.filter((api) => (process.env.RULES_API ?? api) === api);
const PLACES = forms.flatMap((form) => apis.map((api) => ({ form, api })));

/** Each form and API plays sequences of its own. */
const seedOf = (each: number, { form, api }: { form: string; api: string }) =>
  SEED * 1_000_000 + (form === "npm" ? 0 : 200_000) + (api === "v2" ? 100_000 : 0) + each;

jest.setTimeout(24 * 3_600_000);

interface Line {
  readonly number: number;
  readonly steps: number;
  readonly problems: readonly Problem[];
  readonly [field: string]: unknown;
}

const given = process.env.RULES_REPLAY;

(given ? test.skip : test).each(PLACES)(
  `${ONLY ? "the given" : STEPS} steps of random sequences with the $form form over $api break no rule`,
  async ({ form, api }) => {
    mkdirSync(FOLDER, { recursive: true });
    const file = path.join(FOLDER, `rules-${SEED}-${form}-${api}.jsonl`);
    const texts = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").filter(Boolean) : [];
    const known = new Map(texts.map((text) => JSON.parse(text) as Line).map((line) => [line.number, line]));
    const earlier = new Map([...known].filter(([, { problems }]) => problems.length === 0));
    const choice = { only: ONLY, steps: STEPS, workers: WORKERS };
    const { lines, steps } = await playNumbered(earlier, choice, async (each) => {
      const outcome = await playRandom({ form, api }, seedOf(each, { form, api }), STEPS_EACH);
      const { problems, played } = outcome;
      const line: Line = {
        number: each,
        steps: played.length,
        seconds: Math.round(played.reduce((sum, { seconds }) => sum + seconds, 0)),
        // Each resource that was declared in a step is judged in it.
        resourceSteps: played.reduce((sum, { resources }) => sum + resources, 0),
        writes: played.reduce((sum, { writes }) => sum + writes, 0),
        disturbed: played.filter(({ wasDisturbed }) => wasDisturbed).length,
        lied: played.filter(({ step }) => step.lying).length,
        problems,
        ...(problems.length > 0 && { sequence: outcome.sequence }),
      };
      appendFileSync(file, `${JSON.stringify(line)}\n`);
      if (problems.length > 0) process.stdout.write(`\nsequence ${each}\n${described(outcome)}\n`);
      return line;
    });
    const failed = lines.filter(({ problems }) => problems.length > 0);
    process.stdout.write(
      `\n${form} ${api}: ${lines.length} sequences, ${steps} steps, ${failed.length} failed: ${file}\n`,
    );
    expect(
      failed.map((line) => `sequence ${line.number}: ${line.problems.map(({ rule }) => rule).join(", ")}`),
    ).toEqual([]);
  },
);

(given ? test : test.skip)("the sequence that is given breaks no rule", async () => {
  const outcome = await replay(JSON.parse(given ?? "") as Sequence);
  process.stdout.write(`${described(outcome)}\n`);
  for (const { step, output } of outcome.played) process.stdout.write(`\n--- ${JSON.stringify(step)}\n${output}`);
  expect(outcome.problems).toEqual([]);
});
