import type { Interface } from "../../emulator";
import type { Fault } from "./faults";
import type { Site } from "./site";

/** One request of an operation, the first that a fault hits. */
export interface Step {
  readonly name: string;
  readonly interface: Interface;
  /** Number of the operation's request at the interface, from 1. */
  readonly position?: number;
  /** Alternatively, every request with this name. */
  readonly operation?: string;
  /** The expected name of the request at the position, to notice if the fault hits another one. */
  readonly strikes?: string;
}

/** An operation on one resource, and what must be true whatever the service does meanwhile. */
export interface Operation {
  readonly name: string;
  /** The requests that it sends without a fault. */
  readonly steps: readonly Step[];
  /**
   * String that an error must hold in addition to its cause.
   * @default none, because the engine prints the resource before the error
   */
  readonly names?: RegExp;
  /** The expected error of an operation that fails without any fault. */
  readonly fails?: RegExp;
  /**
   * `true` if a fault applies to it.
   * @default all do
   */
  readonly isOpenTo?: (fault: Fault) => boolean;
  prepare(site: Site): Promise<Attempted>;
}

/** An operation that is ready to run. */
export interface Attempted {
  /** Runs it under a fault. Throws if it fails. */
  run(): Promise<void>;
  /** Returns the problems right after the operation. */
  problems(): string[] | Promise<string[]>;
  /** Runs it again without a fault. */
  recover(): Promise<void>;
  /** Returns the problems at the end. */
  problemsAtLast(): string[] | Promise<string[]>;
}

/** Returns the message if a condition does not hold. */
export function unless(condition: boolean, message: string): string[] {
  return condition ? [] : [message];
}
