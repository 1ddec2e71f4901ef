/** The ids of jobs that a worker must stop, and the worker's pending requests for them. */
interface StopRequests {
  /**
   * Resolves with the ids added since the last request, or with none when the request ends. Each id
   * is sent twice, because a worker that has just received a job cannot stop it yet.
   */
  open(signal: AbortSignal): Promise<readonly string[]>;
  add(jobId: string): void;
  /** Ends all requests. New requests then end at once. */
  close(): void;
}

/**
 * @param schedule calls a function after a request's maximum wait, and returns a function that
 * cancels it
 * @param later calls a function when it is time to send ids again
 */
export function createStopRequests(
  schedule: (callback: () => void) => () => void,
  later: (callback: () => void) => void,
): StopRequests {
  const ids: string[] = [];
  const toldOnce = new Set<string>();
  const waiting = new Set<() => void>();
  let isClosed = false;

  const wake = () => {
    for (const end of [...waiting]) end();
  };

  function add(...added: readonly string[]): void {
    ids.push(...added);
    wake();
  }

  function take(): readonly string[] {
    const taken = ids.splice(0);
    const first = taken.filter((id) => !toldOnce.delete(id));
    for (const id of first) toldOnce.add(id);
    if (first.length > 0) later(() => add(...first));
    return taken;
  }

  return {
    open(signal) {
      return new Promise((resolve) => {
        const end = () => {
          waiting.delete(end);
          cancel();
          signal.removeEventListener("abort", end);
          resolve(take());
        };
        const cancel = schedule(end);
        if (isClosed || signal.aborted || ids.length > 0) return end();
        signal.addEventListener("abort", end, { once: true });
        waiting.add(end);
      });
    },
    add: (jobId) => add(jobId),
    close() {
      isClosed = true;
      wake();
    },
  };
}
