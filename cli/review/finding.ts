/** A finding of the review. */
export interface ReviewFinding {
  readonly level: "impossible" | "unlikely" | "data" | "stays";
  /** The kind of finding, as one word. */
  readonly kind: string;
  /** The resource's name in the program; `undefined` if the finding concerns the account. */
  readonly resource?: string;
  readonly message: string;
}
