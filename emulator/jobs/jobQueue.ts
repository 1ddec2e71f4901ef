/** A job that waits. */
export interface Waiting {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly queuedAt: number;
  readonly lowPriority: boolean;
}

/** The jobs that wait for a worker, first come first served. Adding, taking and removing take constant time. */
export interface JobQueue {
  /** How many wait. */
  readonly size: number;
  /** How many of them may trigger scaling. */
  readonly normalSize: number;
  push(job: Waiting): void;
  shift(): Waiting | undefined;
  /** Takes a job out of the line, wherever it stands. */
  remove(id: string): void;
  /** The jobs that may trigger scaling, from the front. */
  normal(): Iterable<Waiting>;
}

/** Jobs with `lowPriority` stand in a lane of their own, so that the autoscaler never has to step over them. */
export function createJobQueue(): JobQueue {
  const places = new Map<string, { lane: Lane; node: Node }>();
  const normalLane = createLane();
  const lowLane = createLane();
  let sequence = 0;

  function remove(id: string): void {
    const place = places.get(id);
    if (!place) return;
    places.delete(id);
    place.lane.unlink(place.node);
  }

  return {
    get size() {
      return places.size;
    },
    get normalSize() {
      return normalLane.size;
    },
    push(job) {
      const lane = job.lowPriority ? lowLane : normalLane;
      places.set(job.id, { lane, node: lane.append(job, sequence++) });
    },
    shift() {
      const [normal, low] = [normalLane.head, lowLane.head];
      const first = normal && low ? (normal.sequence < low.sequence ? normal : low) : (normal ?? low);
      if (first) remove(first.job.id);
      return first?.job;
    },
    remove,
    *normal() {
      for (let node = normalLane.head; node; node = node.next) yield node.job;
    },
  };
}

interface Node {
  readonly job: Waiting;
  readonly sequence: number;
  previous: Node | undefined;
  next: Node | undefined;
}

interface Lane {
  head: Node | undefined;
  tail: Node | undefined;
  size: number;
  append(job: Waiting, sequence: number): Node;
  unlink(node: Node): void;
}

/** A doubly linked list. */
function createLane(): Lane {
  const lane: Lane = {
    head: undefined,
    tail: undefined,
    size: 0,
    append(job, sequence) {
      const node: Node = { job, sequence, previous: lane.tail, next: undefined };
      if (lane.tail) lane.tail.next = node;
      else lane.head = node;
      lane.tail = node;
      lane.size += 1;
      return node;
    },
    unlink(node) {
      if (node.previous) node.previous.next = node.next;
      else lane.head = node.next;
      if (node.next) node.next.previous = node.previous;
      else lane.tail = node.previous;
      lane.size -= 1;
    },
  };
  return lane;
}
