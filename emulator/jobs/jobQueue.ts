import { Lane, type Place } from "./lane";

/** A waiting job. */
export interface Waiting {
  /** Milliseconds since the epoch. */
  readonly queuedAt: number;
  readonly lowPriority: boolean;
}

/**
 * The jobs waiting for a worker, in order of arrival. `push`, `shift` and `remove` take constant
 * time. Jobs with `lowPriority` have their own lane, so that the autoscaler never has to skip them.
 */
export class JobQueue<J extends Waiting> {
  readonly #normal = new Lane<J>();
  readonly #low = new Lane<J>();
  #sequence = 0;

  /** The number of waiting jobs. */
  get size(): number {
    return this.#normal.size + this.#low.size;
  }

  /** The number of jobs without `lowPriority`. Only these can trigger scaling. */
  get normalSize(): number {
    return this.#normal.size;
  }

  /** The job that `shift` would return. */
  get first(): J | undefined {
    return this.#firstLane.first;
  }

  /** Returns the job's place, for `remove`. */
  push(job: J): Place<J> {
    return this.#laneOf(job).push(job, this.#sequence++);
  }

  shift(): J | undefined {
    return this.#firstLane.shift();
  }

  /** Removes a waiting job from any position. */
  remove(place: Place<J>): void {
    this.#laneOf(place.job).remove(place);
  }

  /** The jobs without `lowPriority`, from the front. */
  normal(): Iterable<J> {
    return this.#normal;
  }

  get #firstLane(): Lane<J> {
    return this.#normal.firstSequence < this.#low.firstSequence ? this.#normal : this.#low;
  }

  #laneOf({ lowPriority }: J): Lane<J> {
    return lowPriority ? this.#low : this.#normal;
  }
}
