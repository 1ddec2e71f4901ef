import { IDLE_SCALE_DOWN } from "../../sdk/contract/limits";
import type { EndpointRecord } from "../model/endpointFields";
import type { EmulatorClock } from "../time/virtualClock";

/**
 * Lowers `workersMax` of an endpoint that has had no jobs for days, as the service does (observed),
 * and `workersMin` with it (assumed). Returns a function that stops watching.
 * @param idleSince returns when the endpoint last had a job or was saved, in milliseconds since the
 * epoch
 * @param onLowered called after the record has changed
 */
export function watchIdleness(
  record: EndpointRecord,
  clock: EmulatorClock,
  idleSince: () => number,
  onLowered: () => void,
): () => void {
  let cancel = () => {};

  function check(): void {
    const idleMs = clock.now() - idleSince();
    const due = IDLE_SCALE_DOWN.findLast(({ afterMs }) => idleMs >= afterMs);
    const next = IDLE_SCALE_DOWN.find(({ afterMs }) => idleMs < afterMs);
    cancel = clock.schedule(next ? next.afterMs - idleMs : IDLE_SCALE_DOWN[0].afterMs, check, true);
    if (!due || record.workersMax <= due.workersMax) return;
    record.workersMax = due.workersMax;
    record.workersMin = Math.min(record.workersMin, due.workersMax);
    onLowered();
  }

  cancel = clock.schedule(0, check, true);
  return () => cancel();
}
