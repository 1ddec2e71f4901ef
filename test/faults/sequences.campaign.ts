import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { playNumbered } from "./playNumbered";
import type { Sequence, Setup } from "./sequences/actions";
import { randomFrom } from "./sequences/generate";
import { KNOWN_SEQUENCES, KNOWN_WITH_SETUP, type KnownSequence } from "./sequences/known";
import { type Outcome, playRandom, replay, rulesOf, shrink } from "./sequences/run";

/** File with one line for each sequence, so that a stopped campaign continues. Git-ignored. */
const FOLDER = path.resolve(__dirname, "../../.scratch/faults");
const SEED = Number(process.env.SEQUENCES_SEED ?? 1);
const STEPS = Number(process.env.SEQUENCES_STEPS ?? 1000);
const WORKERS = Number(process.env.SEQUENCES_WORKERS ?? 3);
/** Numbers of sequences to play, such as `3,17`; those that have passed are played as well. */
const ONLY = process.env.SEQUENCES_ONLY?.split(",").map(Number);
const SHRINK_REPLAYS = Number(process.env.SEQUENCES_SHRINK ?? 30);
const ACTIONS_EACH = 16;
const FILE = path.join(FOLDER, `sequences-${SEED}.jsonl`);

jest.setTimeout(24 * 3_600_000);

interface Line {
  readonly sequence: number;
  readonly steps: number;
  readonly seconds: number;
  readonly rules: readonly string[];
  readonly [field: string]: unknown;
}

/** The sequences that have passed so far. Failed ones are played again. */
function linesSoFar(): Line[] {
  const texts = existsSync(FILE) ? readFileSync(FILE, "utf8").split("\n") : [];
  const lines: Line[] = texts.filter((text) => text !== "").map((text) => JSON.parse(text));
  const latest = new Map(lines.map((line) => [line.sequence, line]));
  return [...latest.values()].filter(({ rules }) => rules.length === 0);
}

/** Returns the start of a sequence by its number. */
function setupOf(number: number): Setup {
  const seed = SEED * 100_000 + number;
  const random = randomFrom(seed ^ 0x5eed);
  const api = random();
  const setup: Setup = {
    seed,
    lenient: random() < 0.4,
    namespace: random() < 0.6,
    ...(api < 0.6 && { apis: api < 0.25 ? "v2" : "both" }),
    ...(random() < 0.2 && { isPlugin: true }),
  };
  const kind = random();
  if (kind < 0.1) return { ...setup, observed: true, crowd: 396 + Math.floor(random() * 4) };
  if (kind < 0.2) return { ...setup, observed: random() < 0.7, lagMs: 10_000 };
  return { ...setup, observed: random() < 0.75 };
}

const stepsOf = ({ steps }: Outcome) => steps.filter(({ exitCode }) => exitCode !== undefined).length;

/** Returns a failure in words, with the command that replays it. */
function described({ sequence, steps, problems }: Outcome): string {
  const actions = sequence.actions.map((action, index) => `  ${index + 1}. ${JSON.stringify(action)}`);
  const said = steps.at(-1)?.output?.trim().slice(-1500) ?? "";
  return [
    ...problems.map(({ rule, text }) => `${rule}: ${text}`),
    `after (${JSON.stringify(sequence.setup)}):`,
    ...actions,
    `SEQUENCES_REPLAY='${JSON.stringify(sequence)}' npm run test:faults -- faults/sequences`,
    said,
  ].join("\n");
}

async function playOne(number: number): Promise<Line> {
  const begun = performance.now();
  const played = await playRandom(setupOf(number), ACTIONS_EACH);
  const failed = played.problems.length > 0;
  if (failed) process.stdout.write(`\nsequence ${number} failed\n${described(played)}\n`);
  const shrunk = failed ? await shrink(played, SHRINK_REPLAYS) : played;
  if (failed) process.stdout.write(`\nsequence ${number}, shrunk\n${described(shrunk)}\n`);
  const line: Line = {
    sequence: number,
    steps: stepsOf(played),
    seconds: Math.round((performance.now() - begun) / 1000),
    rules: rulesOf(shrunk),
    setup: played.sequence.setup,
    actions: played.steps.map(({ action, exitCode, seconds, wasDisturbed }) => ({
      action,
      exitCode,
      seconds,
      wasDisturbed,
    })),
    ...(shrunk.problems.length > 0 && { problems: shrunk.problems, shrunk: shrunk.sequence }),
  };
  appendFileSync(FILE, `${JSON.stringify(line)}\n`);
  return line;
}

const given = process.env.SEQUENCES_REPLAY;

const KNOWN = Object.entries<KnownSequence>({
  ...Object.fromEntries(Object.entries(KNOWN_SEQUENCES).map(([title, actions]) => [title, { actions }])),
  ...KNOWN_WITH_SETUP,
});

(given ? test.skip : test).each(KNOWN)("%s: breaks no rule", async (_title, { setup, actions }) => {
  const { problems, steps } = await replay({ setup: { seed: 1, lenient: true, namespace: true, ...setup }, actions });
  expect(problems).toEqual([]);
  // Advice that an error does not give cannot be followed.
  const advised = actions.filter((action) => action.do === "followAdvice");
  expect(steps.map(({ action }) => action)).toEqual(expect.arrayContaining(advised));
});

(given ? test.skip : test)(
  `${ONLY ? "the given" : STEPS} steps of random sequences from seed ${SEED} break no rule`,
  async () => {
    mkdirSync(FOLDER, { recursive: true });
    const earlier = new Map(linesSoFar().map((line) => [line.sequence, line]));
    const { lines, steps } = await playNumbered(earlier, { only: ONLY, steps: STEPS, workers: WORKERS }, playOne);
    const failed = lines.filter(({ rules }) => rules.length > 0);
    process.stdout.write(`\n${lines.length} sequences, ${steps} steps, ${failed.length} failed: ${FILE}\n`);
    expect(failed.map(({ sequence, rules }) => `sequence ${sequence}: ${rules.join(", ")}`)).toEqual([]);
  },
);

(given ? test : test.skip)("the sequence that is given breaks no rule", async () => {
  const outcome = await replay(JSON.parse(given ?? "") as Sequence);
  for (const { action, exitCode, problems, output } of outcome.steps) {
    process.stdout.write(
      `\n${JSON.stringify(action)}: exit code ${exitCode}\n${output ?? ""}${JSON.stringify(problems)}\n`,
    );
  }
  expect(outcome.problems).toEqual([]);
});
