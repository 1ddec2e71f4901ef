import { type Expectation, FINDINGS, type Finding, WORDS } from "./scenario";

/** A cause as an answer names it, in the order of the answer. */
export interface Named {
  readonly id: string;
  readonly isCertain: boolean;
}

/** The ids that stand for each row of the table. Several rows may share one. */
export type Ids = Readonly<Record<Finding, readonly string[]>>;

/** Returns what is wrong with an answer. */
export function problemsOf(named: readonly Named[], expectation: Expectation, ids: Ids): string[] {
  const rowsOf = (id: string) => FINDINGS.filter((finding) => ids[finding].includes(id));
  const { anyOf, mustInclude = [], mustNotInclude = [], first, notFirst, mayBeCertain = [] } = expectation;
  const isOf = (id: string | undefined, rows: readonly Finding[]) =>
    id !== undefined && rowsOf(id).some((row) => rows.includes(row));
  // An id that stands for several rows is wrong only if all of them are.
  const isOnlyOf = (id: string, rows: readonly Finding[]) =>
    rowsOf(id).length > 0 && rowsOf(id).every((row) => rows.includes(row));
  const begin = named[0]?.id;
  return [
    ...(named.length === 0 ? ["it names nothing"] : []),
    ...named.filter(({ id }) => rowsOf(id).length === 0).map(({ id }) => `${id} is no row of the table`),
    ...(anyOf && !named.some(({ id }) => isOf(id, anyOf)) ? [`it names none of ${words(anyOf)}`] : []),
    ...mustInclude.filter((row) => !named.some(({ id }) => isOf(id, [row]))).map((row) => `it lacks ${words([row])}`),
    ...named.filter(({ id }) => isOnlyOf(id, mustNotInclude)).map(({ id }) => `${id} is excluded`),
    ...(first && !isOf(begin, first) ? [`it begins with ${begin}, not ${words(first)}`] : []),
    ...(notFirst && begin !== undefined && isOnlyOf(begin, notFirst) ? [`it begins with ${begin}`] : []),
    ...named
      .filter(({ id, isCertain }) => isCertain && !isOf(id, mayBeCertain))
      .map(({ id }) => `${id} is called certain`),
  ];
}

const words = (rows: readonly Finding[]) =>
  rows.map((row) => (typeof row === "number" ? `${row} (${WORDS[row]})` : row)).join(", ");
