/**
 * Resolves in the next turn of the event loop, so that other requests are handled between two long
 * steps.
 */
export function nextTurn(): Promise<void> {
  // The first callback may run before the event loop checks for requests again.
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
