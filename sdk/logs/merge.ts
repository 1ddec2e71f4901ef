/** Joins what several readers add into one iterable. */
export interface Merge<T> {
  /** Adds an item. Resolves when there is room for another. */
  add(item: T): Promise<void>;
  /** Ends the iterable after the items that were added. */
  end(): void;
  /** Ends it with an error after these items. */
  fail(error: unknown): void;
  items(): AsyncGenerator<T, void, undefined>;
}

/** A reader waits while so many items have no taker. */
const MOST_WAITING = 1_000;

export function createMerge<T>(): Merge<T> {
  const waiting: T[] = [];
  let isOver = false;
  let failure: { readonly error: unknown } | undefined;
  let wake = () => {};
  let makeRoom = () => {};
  return {
    async add(item) {
      if (isOver) return;
      waiting.push(item);
      wake();
      while (!isOver && waiting.length >= MOST_WAITING) {
        const before = makeRoom;
        await new Promise<void>((resolve) => {
          makeRoom = () => {
            before();
            resolve();
          };
        });
      }
    },
    end() {
      isOver = true;
      wake();
      makeRoom();
    },
    fail(error) {
      failure ??= { error };
      isOver = true;
      wake();
    },
    async *items() {
      for (;;) {
        for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
          makeRoom();
          makeRoom = () => {};
          yield item;
        }
        if (failure) throw failure.error;
        if (isOver) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (waiting.length > 0 || isOver) resolve();
        });
      }
    },
  };
}
