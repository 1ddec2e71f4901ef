import type { Interface } from "../../emulator";
import type { Fault } from "./faults";
import type { Site } from "./site";

/** One request of an operation: the first that a fault strikes. */
export interface Step {
  readonly name: string;
  readonly interface: Interface;
  /** Number of the operation's request at the interface, from 1. */
  readonly position?: number;
  /** Or: every request with this name. */
  readonly operation?: string;
  /** The name of the request at the position: that another one is struck would go unnoticed. */
  readonly strikes?: string;
}

/** An operation on one resource, and what must be true whatever the service does meanwhile. */
export interface Operation {
  readonly name: string;
  /** The requests that it makes when nothing goes wrong. */
  readonly steps: readonly Step[];
  /**
   * String that an error must hold in addition to its cause.
   * @default none, because the engine prints the resource before the error
   */
  readonly names?: RegExp;
  /** The expected error of an operation that fails without any fault. */
  readonly fails?: RegExp;
  /**
   * `true` if a fault makes sense for it.
   * @default all do
   */
  readonly isOpenTo?: (fault: Fault) => boolean;
  prepare(site: Site): Promise<Attempted>;
}

/** An operation that is about to be tried. */
export interface Attempted {
  /** Tries it, under a fault. Throws when it fails. */
  run(): Promise<void>;
  /** Returns the problems right after the operation. */
  problems(): string[] | Promise<string[]>;
  /** Tries it once more, without a fault. */
  recover(): Promise<void>;
  /** Returns the problems at the end. */
  problemsAtLast(): string[] | Promise<string[]>;
}

/** The message where a condition does not hold. */
export function unless(condition: boolean, message: string): string[] {
  return condition ? [] : [message];
}
