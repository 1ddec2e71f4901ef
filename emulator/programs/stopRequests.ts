/** The ids of jobs that a worker must stop, and the open requests of the worker that wait for them. */
export interface StopRequests {
  /** Resolves with the ids that were added since the last request, or with none when the request is over. */
  open(signal: AbortSignal): Promise<readonly string[]>;
  add(jobId: string): void;
  /** Ends all requests. From then on they end at once. */
  close(): void;
}

/** @param schedule calls a function when the longest time of a request is over, and returns a function that cancels it */
export function createStopRequests(schedule: (callback: () => void) => () => void): StopRequests {
  const ids: string[] = [];
  const waiting = new Set<() => void>();
  let isClosed = false;

  const wake = () => {
    for (const end of [...waiting]) end();
  };

  return {
    open(signal) {
      return new Promise((resolve) => {
        const end = () => {
          waiting.delete(end);
          cancel();
          signal.removeEventListener("abort", end);
          resolve(ids.splice(0));
        };
        const cancel = schedule(end);
        if (isClosed || signal.aborted || ids.length > 0) return end();
        signal.addEventListener("abort", end, { once: true });
        waiting.add(end);
      });
    },
    add(jobId) {
      ids.push(jobId);
      wake();
    },
    close() {
      isClosed = true;
      wake();
    },
  };
}
