import type { Endpoint, Endpoints } from "../endpoints/endpoints";
import type { FidelityId } from "../model/fidelity";
import type { EmulatorClock } from "../time/virtualClock";
import type { WorkerState } from "../workers/watch";
import type { Change, Depth, EndpointView, Move } from "./views";

/** Follows endpoints, the lengths of their queues, and the states of their workers. */
export interface EndpointChanges {
  /** Must be called when an endpoint, its queue or its scaling has changed. */
  onChange(endpointId: string): void;
  /** Must be called when a worker enters a state. */
  moved(endpointId: string, workerId: string, state: WorkerState | "gone"): void;
  /** Returns the changes since the last call; the first time, all endpoints. */
  changes(): Pick<Change, "endpoints" | "endpointsGone" | "moves" | "depths">;
}

/**
 * Two changes to a worker or a queue within this time are drawn as one, in milliseconds on the
 * emulator's clock.
 */
const DRAWN_APART_MS = 50;
/** How many moves, and how many depths, one change contains at most. Earlier ones are left out. */
const MAX_DRAWN = 5000;

export function createEndpointChanges(endpoints: Endpoints, clock: EmulatorClock): EndpointChanges {
  const changedIds = new Set<string>();
  const moves = createTrack<Move>();
  const depths = createTrack<Depth>();
  let isFirst = true;

  return {
    onChange(id) {
      changedIds.add(id);
      const waiting = endpoints.find(id)?.runtime.queue().waiting;
      if (waiting !== undefined) depths.add(id, [clock.now(), id, waiting]);
    },
    moved(endpointId, workerId, state) {
      changedIds.add(endpointId);
      moves.add(workerId, [clock.now(), endpointId, workerId, state]);
    },
    changes() {
      const ids = isFirst ? endpoints.all().map(({ record }) => record.id) : [...changedIds];
      const found = ids.map((id) => endpoints.find(id)).filter((endpoint) => endpoint !== undefined);
      const gone = ids.filter((id) => !endpoints.find(id));
      changedIds.clear();
      const result = {
        ...((isFirst || found.length > 0) && { endpoints: found.map(endpointView) }),
        ...(gone.length > 0 && { endpointsGone: gone }),
        ...moves.take("moves"),
        ...depths.take("depths"),
      };
      isFirst = false;
      return result;
    },
  };
}

/**
 * Collects what is drawn over time. If entries with the same key are too close to distinguish, only
 * the last one remains.
 */
function createTrack<Entry extends readonly [at: number, ...unknown[]]>() {
  let entries: Entry[] = [];
  const latest = new Map<string, number>();
  return {
    add(key: string, entry: Entry) {
      const index = latest.get(key);
      const before = index === undefined ? undefined : entries[index];
      if (index !== undefined && before && entry[0] - before[0] < DRAWN_APART_MS) {
        entries[index] = [before[0], ...entry.slice(1)] as unknown as Entry;
        return;
      }
      if (entries.length >= 2 * MAX_DRAWN) {
        entries = entries.slice(-MAX_DRAWN);
        latest.clear();
      }
      latest.set(key, entries.push(entry) - 1);
    },
    take<Name extends string>(name: Name): { [K in Name]?: Entry[] } {
      const taken = entries.slice(-MAX_DRAWN);
      entries = [];
      latest.clear();
      return (taken.length > 0 ? { [name]: taken } : {}) as { [K in Name]?: Entry[] };
    },
  };
}

function endpointView({ record, runtime }: Endpoint): EndpointView {
  const { id, name, gpuIds, scalerType, workersMin, workersMax } = record;
  return {
    ...{ id, name, gpuIds, scalerType, workersMin, workersMax },
    jobs: runtime.health().jobs,
    oldestQueuedAt: runtime.queue().oldestQueuedAt,
    scaling: runtime.scaling(),
    assumed: assumedFor(record),
    workers: runtime.workers(),
  };
}

function assumedFor({ scalerType, flashBootType }: Endpoint["record"]): FidelityId[] {
  const rows: FidelityId[] = ["workers.cold-start"];
  if (flashBootType !== null) rows.push("workers.flashboot-factor");
  if (scalerType === "REQUEST_COUNT") rows.push("workers.idle-request-count-time");
  return rows;
}
