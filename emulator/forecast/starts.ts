import type { EventClock } from "../time/eventClock";
import type { Assumptions, PlayedEndpoint } from "./assumptions";
import { drawColdStartMs } from "./coldStarts";
import type { PlayedState } from "./tally";

/** Draws the start times of an endpoint's workers. */
export interface Starts {
  /** The number of worker starts since `begin`. */
  readonly count: number;
  /** `true` after `begin`. */
  readonly begun: boolean;
  /** Must be called once the initial `workersMin` workers exist. They are not throttled. */
  begin(): void;
  onWorker(state: PlayedState | "gone"): void;
  /** Returns how long the latest worker takes to start, in milliseconds. */
  draw(): number;
  /** Returns the throttled part of the latest start, in milliseconds. */
  throttledMs(): number;
}

/** @param endpoint may change while the load is played */
export function createStarts(
  endpoint: PlayedEndpoint,
  { coldStarts, throttledShare, throttledS }: Assumptions,
  random: () => number,
  clock: EventClock,
): Starts {
  let begun = false;
  let throttledMs = 0;
  let workers = 0;
  let count = 0;
  let lastStopAt = Number.NEGATIVE_INFINITY;
  return {
    get count() {
      return count;
    },
    get begun() {
      return begun;
    },
    begin() {
      begun = true;
    },
    onWorker(state) {
      if (state === "gone") workers -= 1;
      else if (state === "starting") workers += 1;
      if (workers === 0) lastStopAt = clock.now();
    },
    draw() {
      count += 1;
      const sinceLastS = workers > 1 ? 0 : (clock.now() - lastStopAt) / 1000;
      return throttledMs + drawColdStartMs(coldStarts, endpoint.flashBoot, sinceLastS, random);
    },
    throttledMs() {
      throttledMs = begun && random() < throttledShare ? throttledS * 1000 : 0;
      return throttledMs;
    },
  };
}
