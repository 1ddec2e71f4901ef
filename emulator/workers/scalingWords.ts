import { type Demand, type ScalingRecord, workersWanted } from "./scaling";

/**
 * Returns the arithmetic of `workersWanted` as a line for people, such as
 * `wanted 3 = ceil((4 waiting + 2 in progress) / 2), at most 3`.
 */
export function scalingInWords(record: ScalingRecord, demand: Demand): string {
  const { value, words } = record.scalerType === "REQUEST_COUNT" ? byCount(record, demand) : byDelay(record, demand);
  const wanted = workersWanted(record, demand);
  const result = value === wanted ? "" : ` = ${value}`;
  const least = record.workersMin > 0 ? `, at least ${record.workersMin}` : "";
  return `wanted ${wanted} = ${words}${result}${least}, at most ${record.workersMax}`;
}

interface Term {
  readonly value: number;
  readonly words: string;
}

function byCount({ scalerValue }: ScalingRecord, { waiting, inProgress }: Demand): Term {
  const perWorker = Math.max(1, scalerValue);
  const value = Math.ceil((waiting + inProgress) / perWorker);
  return { value, words: `ceil((${waiting} waiting + ${inProgress} in progress) / ${perWorker})` };
}

function byDelay({ scalerValue }: ScalingRecord, { waiting, overdue, inProgress }: Demand): Term {
  const value = inProgress + overdue;
  if (waiting > 0 && value === 0) return { value: 1, words: `1 for the first of ${waiting} waiting` };
  return { value, words: `${inProgress} in progress + ${overdue} waiting for ${scalerValue} s or longer` };
}
