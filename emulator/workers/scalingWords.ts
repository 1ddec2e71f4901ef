import { type Demand, FORMULAS, type ScalingRecord, workersKept, workersWanted } from "./scaling";

/**
 * Describes the calculation of `workersWanted`, such as `wanted 3 = ceil((4 waiting + 2 in
 * progress) / 2), at most 3`.
 */
export function scalingInWords(record: ScalingRecord, demand: Demand): string {
  const formula = FORMULAS[record.scalerType];
  const demanded = formula.workers(record, demand);
  const wanted = workersWanted(record, demand);
  const result = demanded === wanted ? "" : ` = ${demanded}`;
  const kept = workersKept(record);
  const least = kept > 0 ? `, at least ${kept}` : "";
  return `wanted ${wanted} = ${formula.words(record, demand)}${result}${least}, at most ${record.workersMax}`;
}
