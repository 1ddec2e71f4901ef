/** A data center in the catalog. */
interface DataCenter {
  readonly id: string;
  /** The data center's country. REST v2 does not show it. */
  readonly country: string;
}

/** The data centers in the catalog (assumed). The service's list changes over time. */
export const DATA_CENTERS: readonly DataCenter[] = [
  { id: "AP-JP-1", country: "JP" },
  { id: "CA-MTL-1", country: "CA" },
  { id: "EU-CZ-1", country: "CZ" },
  { id: "EU-FR-1", country: "FR" },
  { id: "EU-NL-1", country: "NL" },
  { id: "EU-RO-1", country: "RO" },
  { id: "EU-RO-2", country: "RO" },
  { id: "EU-SE-1", country: "SE" },
  { id: "EUR-GB-1", country: "GB" },
  { id: "EUR-IS-1", country: "IS" },
  { id: "EUR-NO-1", country: "NO" },
  { id: "OC-AU-1", country: "AU" },
  { id: "US-CA-2", country: "US" },
  { id: "US-GA-2", country: "US" },
  { id: "US-KS-2", country: "US" },
  { id: "US-TX-3", country: "US" },
];

/** Returns a data center's country; empty if the catalog does not contain it. */
export function countryOf(dataCenterId: string): string {
  return DATA_CENTERS.find(({ id }) => id === dataCenterId)?.country ?? "";
}

/**
 * Returns the data centers in a comma-separated list of countries and data centers. An empty list
 * means any region.
 */
export function dataCentersOf(locations: string): string[] {
  const parts = locations
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  const ids = parts.flatMap((part) => {
    const inCountry = DATA_CENTERS.filter(({ country }) => country === part).map(({ id }) => id);
    return inCountry.length > 0 ? inCountry : [part];
  });
  return [...new Set(ids)];
}
