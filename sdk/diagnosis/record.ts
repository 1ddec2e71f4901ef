import type { LogLine } from "../logs/record";
import type { RequestOptions } from "../transport/requestOptions";
import type { CauseId, Certainty } from "./causes";

/**
 * What the caller is waiting for: `jobs` (for a job to start), `workers` (for `workersMin` workers
 * to be ready) or `stop` (for all workers to stop, before a deletion).
 */
export type AwaitedWork = "jobs" | "workers" | "stop";

/** Options of `diagnose`. */
export interface DiagnoseOptions extends Pick<RequestOptions, "signal"> {
  /**
   * What the caller is waiting for.
   * @default "jobs"
   */
  readonly awaited?: AwaitedWork | undefined;
  /**
   * How long the wait has lasted, in milliseconds, ≥ 0.
   * @default unknown
   */
  readonly waitedMs?: number | undefined;
  /**
   * `true` also reads the logs of up to three workers, for at most 5 s, and includes their last
   * three lines, redacted, in the result. Logs are available only over REST v2. Without logs, a
   * crash or a failed pull is never certain.
   * @default false
   */
  readonly logs?: boolean | undefined;
}

/** A cause that a diagnosis names. */
export interface FoundCause {
  /** The id of the cause, for use in programs. */
  readonly id: CauseId;
  /** A description of the cause. */
  readonly words: string;
  /** How certain the cause is. */
  readonly certainty: Certainty;
  /** The recommended action. */
  readonly advice: string;
  /** `true` if the cause goes away by itself. */
  readonly passes: boolean;
}

/** A fact on which a diagnosis is based. */
export interface Fact {
  /** A description of the fact. */
  readonly text: string;
  /** Where the fact was read: `REST v2`, `GraphQL` or `queue`. */
  readonly source: string;
  /** When the fact was read. */
  readonly readAt: Date;
  /** How old the fact was when the diagnosis was made, in milliseconds. */
  readonly ageMs: number;
}

/** Something that could not be read. */
export interface MissingFact {
  /** What the diagnosis tried to read. */
  readonly what: string;
  /** The reason why it could not be read. */
  readonly why: string;
}

/** The reason why an endpoint's jobs or workers are waiting, as far as the service shows it. */
export interface Diagnosis {
  /** The id of the endpoint. */
  readonly endpointId: string;
  /** The name of the endpoint, if it could be read. */
  readonly endpointName: string | undefined;
  /** What the caller is waiting for. */
  readonly awaited: AwaitedWork;
  /**
   * The cause to fix first. If the service's information does not distinguish between several
   * causes, the list contains all of them, most likely first, and one of them is the actual cause.
   * The list is never empty.
   */
  readonly causes: readonly FoundCause[];
  /** How certain the first of `causes` is. */
  readonly certainty: Certainty;
  /** Further causes that were found, in the order in which they should be fixed. */
  readonly others: readonly FoundCause[];
  /** The facts on which the diagnosis is based. */
  readonly evidence: readonly Fact[];
  /** The facts that could not be read. */
  readonly missing: readonly MissingFact[];
  /** The last three lines of the logs, if the option `logs` is set. */
  readonly lines: readonly LogLine[];
  /** The diagnosis in one line. */
  readonly summary: string;
  /** When the diagnosis was made. */
  readonly madeAt: Date;
}
