/** The inputs of a batch: a list, or anything else that yields them. */
export type BatchInputs<Input> = Iterable<Input> | AsyncIterable<Input>;

/** Inputs that are read one at a time. */
interface Source {
  /** Reads inputs while there is room. */
  read(): void;
  /** Closes the source of the inputs. Does not wait for a read that is still pending. */
  close(): Promise<void>;
}

/**
 * Returns a source that reads inputs one at a time.
 * @param onEnd called once, when there are no more inputs or a read failed
 */
export function readInTurn<Input>(
  inputs: BatchInputs<Input>,
  hasRoom: () => boolean,
  onInput: (input: Input) => void,
  onEnd: (end: { readonly error?: unknown }) => void,
): Source {
  let iterator: AsyncIterator<Input> | Iterator<Input> | undefined;
  let isReading = false;
  let isOpen = true;

  async function read(): Promise<void> {
    isReading = true;
    try {
      iterator ??= Symbol.asyncIterator in inputs ? inputs[Symbol.asyncIterator]() : inputs[Symbol.iterator]();
      while (isOpen && hasRoom()) {
        const next = await iterator.next();
        if (next.done) isOpen = false;
        // Don't submit an input that was read only after the batch was stopped.
        else if (hasRoom()) onInput(next.value);
      }
      if (!isOpen) onEnd({});
    } catch (error) {
      isOpen = false;
      onEnd({ error });
    }
    isReading = false;
  }

  return {
    read() {
      if (isOpen && !isReading && hasRoom()) void read();
    },
    async close() {
      if (!isOpen || !iterator) return;
      isOpen = false;
      const closed = Promise.resolve(iterator.return?.());
      if (isReading) closed.catch(() => {});
      else await closed;
    },
  };
}
