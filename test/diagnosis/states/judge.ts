import type { State } from "./state";

interface Cause {
  readonly id: string;
  readonly certainty: string;
  readonly advice: string;
}

/** What a diagnosis said. */
export interface Said {
  readonly causes: readonly Cause[];
  readonly others: readonly Cause[];
  readonly evidence: readonly string[];
}

const CALM = "nothing-wrong";

/** Returns what is wrong with an answer. The first words say what kind of mistake it is. */
export function problemsOf(state: State, { causes, others }: Said): string[] {
  const { truth, certain = [], calm = false, never = [], unsaid } = state;
  const all = [...causes, ...others];
  const isStrong = ({ certainty }: Cause) => certainty === "likely" || certainty === "certain";
  const strong = all.filter(isStrong);
  const isTrue = (id: string) => truth.includes(id) || certain.includes(id);
  const isFirstCalm = causes.some(({ id }) => id === CALM);
  return [
    ...all
      .filter((each) => each.certainty === "certain" && !isTrue(each.id))
      .map(({ id }) => `certain and wrong: ${id}`),
    ...(isFirstCalm && !calm ? ["calm and wrong"] : []),
    ...strong.filter(({ id }) => never.includes(id)).map(({ id }) => `false: ${id}`),
    ...(truth.length > 0 && !strong.some(({ id }) => truth.includes(id)) ? [`not named: ${truth.join(" or ")}`] : []),
    ...strong.filter(({ advice }) => unsaid?.test(advice)).map(({ id, advice }) => `wrong advice for ${id}: ${advice}`),
  ];
}
