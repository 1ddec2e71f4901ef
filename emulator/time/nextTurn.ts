import type { EmulatorClock } from "./virtualClock";

/**
 * Resolves in the next turn of the event loop, so that other requests are handled between two long
 * steps.
 * @param clock a clock to stop until then
 */
export function nextTurn(clock?: EmulatorClock): Promise<void> {
  // The first callback may run before the event loop checks for requests again.
  const turn = new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
  clock?.hold?.(turn);
  return turn;
}
