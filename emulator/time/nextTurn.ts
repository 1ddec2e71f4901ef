import type { EmulatorClock } from "./virtualClock";

/**
 * Resolves in the next turn of the event loop, so that other requests are handled between two steps
 * that each take long.
 * @param clock stands still until then
 */
export function nextTurn(clock?: EmulatorClock): Promise<void> {
  // The first one may run before the event loop looks for requests again.
  const turn = new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
  clock?.hold?.(turn);
  return turn;
}
