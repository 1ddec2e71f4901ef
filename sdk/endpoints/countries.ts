// Programs load this file on startup, so it must not import any libraries.

/** The countries whose data centers are named after a region of the country, as in `US-KS-2`. */
const OWN_REGIONS: readonly string[] = ["US", "CA"];

/**
 * Returns the country in the id of a data center (observed): `CZ` for `EU-CZ-1`, and `US` for
 * `US-KS-2`.
 */
export function countryOf(id: string): string | undefined {
  const [region = "", place] = id.split("-");
  return OWN_REGIONS.includes(region) ? region : place;
}
