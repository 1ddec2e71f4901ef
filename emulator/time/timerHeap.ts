/** A scheduled callback. */
export interface Timer {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Timers that are due at the same time run in this order. */
  readonly sequence: number;
  readonly callback: () => void;
  /** The position in the heap; -1 once the timer is removed. */
  index: number;
}

/**
 * A binary heap of timers, earliest first. `push` and `remove` take O(log n). Removed timers occupy
 * no memory.
 */
export class TimerHeap<T extends Timer> {
  private readonly timers: T[] = [];

  get size(): number {
    return this.timers.length;
  }

  peek(): T | undefined {
    return this.timers[0];
  }

  push(timer: T): void {
    this.timers.push(timer);
    this.rise(timer, this.timers.length - 1);
  }

  /** Removes a timer. Returns `false` if it is no longer in the heap. */
  remove(timer: T): boolean {
    const hole = timer.index;
    if (hole < 0) return false;
    timer.index = -1;
    const last = this.timers.pop() as T;
    if (last === timer) return true;
    this.sink(last, hole);
    if (last.index === hole) this.rise(last, hole);
    return true;
  }

  private rise(timer: T, from: number): void {
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.timers[parentIndex] as T;
      if (!isBefore(timer, parent)) break;
      this.place(parent, index);
      index = parentIndex;
    }
    this.place(timer, index);
  }

  private sink(timer: T, from: number): void {
    let index = from;
    for (;;) {
      const left = this.timers[2 * index + 1];
      const right = this.timers[2 * index + 2];
      const child = right && left && isBefore(right, left) ? right : left;
      if (!child || !isBefore(child, timer)) break;
      const childIndex = child.index;
      this.place(child, index);
      index = childIndex;
    }
    this.place(timer, index);
  }

  private place(timer: T, index: number): void {
    this.timers[index] = timer;
    timer.index = index;
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.sequence < b.sequence);
}
