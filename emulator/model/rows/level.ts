/** The evidence: `documented` in the contract, `observed` at a running service, or `assumed`. */
export type Level = "documented" | "observed" | "assumed";

/** A rule that the emulator follows. */
export interface Row {
  readonly level: Level;
  readonly text: string;
}

export const documented = (text: string): Row => ({ level: "documented", text });
export const observed = (text: string): Row => ({ level: "observed", text });
export const assumed = (text: string): Row => ({ level: "assumed", text });
