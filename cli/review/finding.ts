/** A finding of the review. */
export interface ReviewFinding {
  readonly level: "impossible" | "unlikely" | "data";
  /** What was found, in one word. */
  readonly kind: string;
  /** The name of the resource in the program; `undefined` for the account. */
  readonly resource?: string;
  readonly message: string;
}
