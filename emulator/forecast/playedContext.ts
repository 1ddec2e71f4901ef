import type { Place } from "../model/places";
import { createWorkerHost } from "../programs/workerHost";
import type { EventClock } from "../time/eventClock";
import { exampleContainer } from "../workers/container";
import type { RuntimeContext } from "../workers/context";
import { createWatch } from "../workers/watch";

/** Every worker finds a machine. Its container does not matter. */
const PLACES: readonly Place[] = [{ dataCenterId: "", volumeId: null, gpuCount: 1, cpu: null }];
const CONTAINER = exampleContainer("forecast");

/** Returns the context that the emulator's scheduler needs in a forecast. */
export function contextOf(clock: EventClock, random: () => number): RuntimeContext {
  return {
    clock,
    random,
    profile: "observed",
    drainMs: 0,
    coldStartMs: 0,
    staleFlashBoot: false,
    containerOf: () => CONTAINER,
    placesOf: () => PLACES,
    // Nothing reads the variables of a worker.
    environments: { fill: () => [], of: () => ({}) },
    watch: createWatch(),
    workerHost: createWorkerHost(clock, () => {}),
    workerFaults: { atStart: () => ({ throttledMs: 0, imagePullMs: 0 }), atJob: () => undefined },
    released() {},
    changed() {},
    dropsWebhook: () => false,
  };
}
