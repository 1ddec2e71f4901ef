import { onAbort } from "../contract/clock";

/**
 * Waits for a result that several readers share. If a reader aborts, only that reader's wait ends.
 * @param abandon called when the last reader has aborted
 */
export function follow<T>(
  shared: { readers: number },
  result: Promise<T>,
  signal: AbortSignal | undefined,
  abandon: (reason: unknown) => void,
): Promise<T> {
  shared.readers++;
  if (!signal) return result;
  return new Promise((resolve, reject) => {
    const ignoreAbort = onAbort(signal, () => {
      reject(signal.reason);
      if (--shared.readers === 0) abandon(signal.reason);
    });
    result.then(resolve, reject).finally(ignoreAbort);
  });
}
