/**
 * Whether a version is in a range of comparators that all must hold, such as `>=3.216.0 <4`. A pre-release counts as
 * the version that it comes before.
 */
export function isInRange(version: string, range: string): boolean {
  return range.split(/\s+/).every((comparator) => {
    const [, operator, bound] = /^(>=|<)(\d[\d.]*)$/.exec(comparator) ?? [];
    if (bound === undefined) throw new RangeError(`${comparator} is not a comparator of the form >=1.2.3 or <1.2.3`);
    return compare(version, bound) >= 0 === (operator === ">=");
  });
}

function compare(a: string, b: string): number {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  const index = [0, 1, 2].find((each) => left[each] !== right[each]);
  return index === undefined ? 0 : (left[index] ?? 0) - (right[index] ?? 0);
}

function numbersOf(version: string): number[] {
  const [release = ""] = version.replace(/^v/, "").split(/[-+]/);
  const numbers = release.split(".").map(Number);
  return [numbers[0] ?? 0, numbers[1] ?? 0, numbers[2] ?? 0];
}
