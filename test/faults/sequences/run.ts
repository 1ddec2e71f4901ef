import type { Action, Sequence, Setup } from "./actions";
import { nextAction, randomFrom } from "./generate";
import { finish, play, type StepResult } from "./play";
import type { Problem } from "./rules";
import { createWorld } from "./world";

/** The result of a sequence: up to its first problem. */
export interface Outcome {
  readonly sequence: Sequence;
  readonly steps: readonly StepResult[];
  readonly problems: readonly Problem[];
}

/** Plays a list of actions; those that have nothing to act on are left out. */
export function replay({ setup, actions }: Sequence): Promise<Outcome> {
  const rest = [...actions];
  return playAll(setup, () => Promise.resolve(rest.shift()));
}

/** Plays random actions: always the same ones for the same seed. */
export function playRandom(setup: Setup, length: number): Promise<Outcome> {
  const random = randomFrom(setup.seed);
  let left = length;
  return playAll(setup, async (world) => (left-- > 0 ? nextAction(world, random) : undefined));
}

type Next = (world: Awaited<ReturnType<typeof createWorld>>) => Promise<Action | undefined>;

async function playAll(setup: Setup, next: Next): Promise<Outcome> {
  const world = await createWorld(setup);
  const steps: StepResult[] = [];
  const outcome = (): Outcome => ({
    sequence: { setup, actions: steps.filter(({ action }) => !finals.includes(action)).map(({ action }) => action) },
    steps,
    problems: steps.flatMap(({ problems }) => problems),
  });
  const finals: Action[] = [];
  try {
    for (let action = await next(world); action; action = await next(world)) {
      const step = await play(world, action);
      if (step) steps.push(step);
      if (step && step.problems.length > 0) return outcome();
    }
    for (const step of await finish(world)) {
      steps.push(step);
      finals.push(step.action);
    }
    return outcome();
  } finally {
    await world.stop();
  }
}

/** Returns the rules that an outcome broke, as one string. */
export const rulesOf = ({ problems }: Pick<Outcome, "problems">) =>
  [...new Set(problems.map(({ rule }) => rule))].sort();

/** Removes actions while the same rule stays broken, with at most this many replays. */
export async function shrink(outcome: Outcome, replays: number): Promise<Outcome> {
  const rule = outcome.problems[0]?.rule;
  let best = outcome;
  let left = replays;
  const improves = async (actions: readonly Action[] | undefined) => {
    if (!actions || left-- <= 0) return false;
    const next = await replay({ ...best.sequence, actions });
    if (next.problems[0]?.rule !== rule) return false;
    best = next;
    return true;
  };
  // Removes runs of half of them, then of a quarter, and so on down to one, from the end.
  for (let size = best.sequence.actions.length >> 1; size >= 1; size >>= 1) {
    for (let end = best.sequence.actions.length; end > 0 && left > 0; end -= size) {
      const { actions } = best.sequence;
      const start = Math.max(0, end - size);
      await improves([...actions.slice(0, start), ...actions.slice(end)]);
    }
  }
  for (let at = 0; at < best.sequence.actions.length; at++) await improves(simpler(best.sequence.actions, at));
  return best;
}

/** Returns the step without its disturbance and its second `up`. */
function simpler(actions: readonly Action[], at: number): Action[] | undefined {
  const action = actions[at];
  if (!action || !("on" in action) || !(action.disturb || action.again)) return undefined;
  const { disturb: _, again: __, ...plain } = action;
  return actions.map((each, index) => (index === at ? (plain as Action) : each));
}
