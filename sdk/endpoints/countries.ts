// Programs load this file when they start, so it imports no library.

/** The countries whose data centers are named after one of their regions, as in `US-KS-2`. */
const OWN_REGIONS: readonly string[] = ["US", "CA"];

/**
 * Returns the country that the id of a data center names (observed): `CZ` for `EU-CZ-1`, `US` for
 * `US-KS-2`.
 */
export function countryOf(id: string): string | undefined {
  const [region = "", place] = id.split("-");
  return OWN_REGIONS.includes(region) ? region : place;
}
