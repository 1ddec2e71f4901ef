/**
 * What a finding is about, most severe first. `unlikely`, `stays` and `decided` are not dangers.
 */
export const FINDINGS = {
  data: { heading: "DATA LOSS", allow: "data" },
  deleted: { heading: "DELETED", allow: "delete" },
  replaced: { heading: "REPLACED", allow: "replace" },
  renamed: { heading: "RENAMED", allow: "rename" },
  zero: { heading: "SCALED TO ZERO", allow: "zero" },
  rejected: { heading: "REJECTED RELEASE", allow: "rejected" },
  impossible: { heading: "IMPOSSIBLE", allow: "impossible" },
  stays: { heading: "STAYS", allow: undefined },
  decided: { heading: "SCALED TO ZERO", allow: undefined },
  unlikely: { heading: "UNLIKELY", allow: undefined },
} as const;

/** A finding about the change. */
export interface Finding {
  readonly level: keyof typeof FINDINGS;
  /** The kind of finding, as one word. */
  readonly kind: string;
  /** The resource's name in the program; `undefined` if the finding concerns the account. */
  readonly resource?: string;
  readonly urn?: string;
  readonly message: string;
}
