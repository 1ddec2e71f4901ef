/** The place of a job in a lane. */
export interface Place<J> {
  readonly job: J;
  readonly sequence: number;
  previous: Place<J>;
  next: Place<J>;
}

/**
 * A list of jobs in order of arrival. It is linked: a `Map` skips its deleted entries whenever it
 * looks for the first one, and draining 200,000 jobs takes 17 s with a `Map` but 0.4 s with lists.
 */
export class Lane<J> implements Iterable<J> {
  /** The list is a ring. This place contains no job. */
  readonly #end: Place<J>;
  #size = 0;

  constructor() {
    const end = { job: undefined as J, sequence: Number.POSITIVE_INFINITY } as Place<J>;
    end.previous = end;
    end.next = end;
    this.#end = end;
  }

  get size(): number {
    return this.#size;
  }

  get first(): J | undefined {
    return this.#end.next.job;
  }

  /** The `sequence` of the first job; infinite if there is none. */
  get firstSequence(): number {
    return this.#end.next.sequence;
  }

  push(job: J, sequence: number): Place<J> {
    const end = this.#end;
    const place = { job, sequence, previous: end.previous, next: end };
    end.previous.next = place;
    end.previous = place;
    this.#size += 1;
    return place;
  }

  shift(): J | undefined {
    const place = this.#end.next;
    if (place !== this.#end) this.remove(place);
    return place.job;
  }

  /** Removes a job of this lane. */
  remove({ previous, next }: Place<J>): void {
    previous.next = next;
    next.previous = previous;
    this.#size -= 1;
  }

  *[Symbol.iterator](): Iterator<J> {
    for (let place = this.#end.next; place !== this.#end; place = place.next) yield place.job;
  }
}
