import type { Step } from "./actions";
import { firstProgram, type Generator, nextStep, randomFrom } from "./generate";
import type { Problem } from "./oracle";
import { createWorld, finish, type Played, play } from "./play";
import type { Api, Declared, Form } from "./stack";

/** A sequence of steps that can be played again. */
export interface Sequence {
  readonly form: Form;
  readonly api: Api;
  readonly program: readonly Declared[];
  readonly steps: readonly Step[];
}

/** What came of a sequence. */
export interface Outcome {
  readonly sequence: Sequence;
  readonly played: readonly Played[];
  readonly problems: readonly Problem[];
}

async function playAll(
  { form, api, program }: Omit<Sequence, "steps">,
  next: (program: readonly Declared[], last: Step) => Step | undefined,
): Promise<Outcome> {
  const world = await createWorld({ form, api }, program);
  const played: Played[] = [];
  const outcome = (problems: readonly Problem[]): Outcome => ({
    sequence: { form, api, program, steps: played.map(({ step }) => step) },
    played,
    problems,
  });
  try {
    const first: Step = { edits: [], command: "up", machine: "one", isPreviewed: false };
    for (let step: Step | undefined = first; step; step = next(world.program, step)) {
      played.push(await play(world, step));
      const problems = played.at(-1)?.problems ?? [];
      if (problems.length > 0) return outcome(problems);
    }
    return outcome(await finish(world));
  } finally {
    await world.stack.pulumi.dispose();
    await world.standIn[Symbol.asyncDispose]();
  }
}

/** Plays random steps: always the same ones for the same seed. */
export function playRandom(
  place: { readonly form: Form; readonly api: Api },
  seed: number,
  length: number,
): Promise<Outcome> {
  const generator: Generator = { ...place, random: randomFrom(seed), count: 0 };
  let left = length;
  const program = firstProgram(generator);
  return playAll({ ...place, program }, (declared, last) =>
    left-- > 0 ? nextStep(generator, declared, last) : undefined,
  );
}

/** Plays a sequence again. Its first step is the first `up`. */
export function replay({ steps, ...sequence }: Sequence): Promise<Outcome> {
  const rest = steps.slice(1);
  return playAll(sequence, () => rest.shift());
}

/** Returns a failure in words, with the command that replays it. */
export function described({ sequence, played, problems }: Outcome): string {
  return [
    ...problems.map(({ rule, text }) => `${rule}: ${text}`),
    ...sequence.steps.map((step, index) => `  ${index}. ${JSON.stringify(step)} → ${played[index]?.exitCode}`),
    `RULES_REPLAY='${JSON.stringify(sequence)}' npm run test:faults -- faults/rules`,
    played.at(-1)?.output.slice(-3000) ?? "",
  ].join("\n");
}
