/** Combines the items that several readers add into a single iterable. */
export interface Merge<T> {
  /** Adds an item. Resolves when there is room for another item. */
  add(item: T): Promise<void>;
  /** Ends the iterable after the items that were already added. */
  end(): void;
  /** Ends the iterable with an error, after the items that were already added. */
  fail(error: unknown): void;
  items(): AsyncGenerator<T, void, undefined>;
}

/** The maximum number of items that have not been taken. At this number, readers wait. */
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
