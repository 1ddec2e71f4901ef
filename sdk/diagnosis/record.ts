import type { LogLine } from "../logs/record";
import type { RequestOptions } from "../transport/requestOptions";
import type { CauseId, Certainty } from "./causes";

/**
 * What is awaited: `jobs` (that a job starts), `workers` (that `workersMin` workers are ready) or
 * `stop` (that no worker is left, for a deletion).
 */
export type AwaitedWork = "jobs" | "workers" | "stop";

/** Options of `diagnose`. */
export interface DiagnoseOptions extends Pick<RequestOptions, "signal"> {
  /** What is awaited. @default "jobs" */
  readonly awaited?: AwaitedWork | undefined;
  /**
   * How long it has been awaited, in milliseconds, ≥ 0.
   * @default unknown
   */
  readonly waitedMs?: number | undefined;
  /**
   * `true` also reads the logs of up to three workers, for at most 5 s, and shows the last three
   * lines, redacted. Only REST v2 has them. Without them, no crash and no failed pull is certain.
   * @default false
   */
  readonly logs?: boolean | undefined;
}

/** A cause that a diagnosis names. */
export interface FoundCause {
  /** The id of the cause, for programs. */
  readonly id: CauseId;
  /** The cause in words. */
  readonly words: string;
  /** How sure it is. */
  readonly certainty: Certainty;
  /** What to do. */
  readonly advice: string;
  /** `true` if it ends by itself. */
  readonly passes: boolean;
}

/** Something that the diagnosis was made from. */
export interface Fact {
  /** What was seen. */
  readonly text: string;
  /** Where: `REST v2`, `GraphQL` or `queue`. */
  readonly source: string;
  /** When it was read. */
  readonly readAt: Date;
  /** How old it was when the diagnosis was made, in milliseconds. */
  readonly ageMs: number;
}

/** Something that could not be read. */
export interface MissingFact {
  /** What was asked for. */
  readonly what: string;
  /** Why it is missing. */
  readonly why: string;
}

/** Why an endpoint's jobs or workers wait, as far as the service shows it. */
export interface Diagnosis {
  /** Id of the endpoint. */
  readonly endpointId: string;
  /** Name of the endpoint, if it could be read. */
  readonly endpointName: string | undefined;
  /** What is awaited. */
  readonly awaited: AwaitedWork;
  /**
   * What to fix first. Several if what the service shows does not tell them apart: it is one of
   * them, the most likely first. Never empty.
   */
  readonly causes: readonly FoundCause[];
  /** How sure `causes` is: as sure as its first. */
  readonly certainty: Certainty;
  /** Further causes that were found, in the order in which to fix them. */
  readonly others: readonly FoundCause[];
  /** What the diagnosis was made from. */
  readonly evidence: readonly Fact[];
  /** What could not be read. */
  readonly missing: readonly MissingFact[];
  /** The last three lines of the logs, with the option `logs`. */
  readonly lines: readonly LogLine[];
  /** The diagnosis in one line. */
  readonly summary: string;
  /** When it was made. */
  readonly madeAt: Date;
}
