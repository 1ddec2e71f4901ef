import type { Interface } from "../../emulator";
import type { Fault } from "./faults";
import type { Site } from "./site";

/** One request of an operation: the first that a fault strikes. */
export interface Step {
  readonly name: string;
  readonly interface: Interface;
  /** Which of the operation's requests at the interface it is, from 1. */
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
  /** What an error must name beside its cause. Default: nothing, because the engine puts the resource before it. */
  readonly names?: RegExp;
  /** What it says when it fails without any fault, as it is meant to. */
  readonly fails?: RegExp;
  /** `true` if a fault makes sense for it. Default: all do. */
  readonly isOpenTo?: (fault: Fault) => boolean;
  prepare(site: Site): Promise<Attempted>;
}

/** An operation that is about to be tried. */
export interface Attempted {
  /** Tries it, under a fault. Throws when it fails. */
  run(): Promise<void>;
  /** What is wrong right after it. */
  problems(): string[] | Promise<string[]>;
  /** Tries it once more, without a fault. */
  recover(): Promise<void>;
  /** What is wrong at the end. */
  problemsAtLast(): string[] | Promise<string[]>;
}

/** The message where a condition does not hold. */
export function unless(condition: boolean, message: string): string[] {
  return condition ? [] : [message];
}
