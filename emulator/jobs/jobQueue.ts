/** A waiting job. */
export interface Waiting {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly queuedAt: number;
  readonly lowPriority: boolean;
}

/**
 * The jobs waiting for a worker, in order of arrival. `push`, `shift` and `remove` take constant
 * time.
 */
export interface JobQueue {
  /** The number of waiting jobs. */
  readonly size: number;
  /** The number of jobs without `lowPriority`. Only these can trigger scaling. */
  readonly normalSize: number;
  /** The job that `shift` would return. */
  readonly first: Waiting | undefined;
  push(job: Waiting): void;
  shift(): Waiting | undefined;
  /** Removes a job from any position. */
  remove(id: string): void;
  /** The jobs without `lowPriority`, from the front. */
  normal(): Iterable<Waiting>;
}

/** A node in a lane. A lane is a ring whose first node contains no job. */
interface Place {
  readonly job?: Waiting;
  readonly sequence: number;
  previous: Place;
  next: Place;
}

/**
 * Creates an empty queue. Jobs with `lowPriority` have their own lane, so that the autoscaler never
 * has to skip them. The lanes are linked lists: a `Map` skips its deleted entries whenever it looks
 * for the first one, and draining 200,000 jobs takes 17 s with a `Map` but 0.4 s with lists.
 */
export function createJobQueue(): JobQueue {
  const places = new Map<string, Place>();
  const normalLane = createLane();
  const lowLane = createLane();
  let sequence = 0;
  let normalSize = 0;

  function remove(id: string): void {
    const place = places.get(id);
    if (!place) return;
    places.delete(id);
    place.previous.next = place.next;
    place.next.previous = place.previous;
    if (!place.job?.lowPriority) normalSize -= 1;
  }

  function first(): Waiting | undefined {
    const [normal, low] = [normalLane.next, lowLane.next];
    return (normal.sequence < low.sequence ? normal : low).job;
  }

  return {
    get size() {
      return places.size;
    },
    get normalSize() {
      return normalSize;
    },
    get first() {
      return first();
    },
    push(job) {
      const lane = job.lowPriority ? lowLane : normalLane;
      const place = { job, sequence: sequence++, previous: lane.previous, next: lane };
      lane.previous.next = place;
      lane.previous = place;
      places.set(job.id, place);
      if (!job.lowPriority) normalSize += 1;
    },
    shift() {
      const job = first();
      if (job) remove(job.id);
      return job;
    },
    remove,
    *normal() {
      for (let { job, next } = normalLane.next; job; { job, next } = next) yield job;
    },
  };
}

function createLane(): Place {
  const lane = { sequence: Number.POSITIVE_INFINITY } as Place;
  lane.previous = lane;
  lane.next = lane;
  return lane;
}
