import type { Endpoint, Endpoints } from "../endpoints/endpoints";
import type { EmulatorClock } from "../time/virtualClock";
import type { WorkerState } from "../workers/watch";
import type { Change, Depth, EndpointOnPage, Move } from "./views";

/** Tracks endpoints, queue lengths, and worker states. */
interface EndpointChanges {
  /** Must be called when an endpoint, its queue or its scaling changes. */
  onChange(endpointId: string): void;
  /** Must be called when a worker changes state. */
  moved(endpointId: string, workerId: string, state: WorkerState | "gone"): void;
  /** Returns the changes since the last call. The first call returns all endpoints. */
  changes(): Pick<Change, "endpoints" | "endpointsGone" | "moves" | "depths">;
}

/**
 * Changes to a worker or queue that are closer together than this are drawn as one, in milliseconds
 * of the emulator's clock.
 */
const DRAWN_APART_MS = 50;
/** The maximum number of moves, and of queue lengths, in one change. Older ones are left out. */
const MAX_DRAWN = 5000;

/** The history for the charts of a page that is opened later. */
export interface Past extends Pick<EndpointChanges, "onChange" | "moved"> {
  /** Returns the latest moves and queue lengths, in order. */
  drawn(): Pick<Change, "moves" | "depths">;
}

export function createPast(endpoints: Endpoints, clock: EmulatorClock): Past {
  const moves = createTrack<Move>();
  const depths = createTrack<Depth>();
  return {
    onChange(id) {
      const waiting = endpoints.find(id)?.runtime.queue().waiting;
      if (waiting !== undefined) return depths.add(id, [clock.now(), id, waiting]);
      // Another endpoint may get the same id, because a reset emulator repeats its ids.
      for (const track of [moves, depths]) track.forget(id);
    },
    moved(endpointId, workerId, state) {
      moves.add(workerId, [clock.now(), endpointId, workerId, state]);
    },
    drawn: () => ({ ...moves.latest("moves"), ...depths.latest("depths") }),
  };
}

/** @param past the history before the first call */
export function createEndpointChanges(
  endpoints: Endpoints,
  clock: EmulatorClock,
  past: Pick<Past, "drawn">,
): EndpointChanges {
  const changedIds = new Set<string>();
  let since = createPast(endpoints, clock);
  let isFirst = true;

  return {
    onChange(id) {
      changedIds.add(id);
      since.onChange(id);
    },
    moved(endpointId, workerId, state) {
      changedIds.add(endpointId);
      since.moved(endpointId, workerId, state);
    },
    changes() {
      const ids = isFirst ? endpoints.all().map(({ record }) => record.id) : [...changedIds];
      const found = ids.map((id) => endpoints.find(id)).filter((endpoint) => endpoint !== undefined);
      const gone = ids.filter((id) => !endpoints.find(id));
      changedIds.clear();
      const result = {
        ...((isFirst || found.length > 0) && { endpoints: found.map(endpointView) }),
        ...(gone.length > 0 && { endpointsGone: gone }),
        ...(isFirst ? past : since).drawn(),
      };
      isFirst = false;
      since = createPast(endpoints, clock);
      return result;
    },
  };
}

/**
 * Collects entries over time. Of entries with the same key that are too close to tell apart, only
 * the last one is kept.
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
    forget(endpointId: string) {
      entries = entries.filter((entry) => entry[1] !== endpointId);
      latest.clear();
    },
    latest<Name extends string>(name: Name): { [K in Name]?: Entry[] } {
      const taken = entries.slice(-MAX_DRAWN);
      return (taken.length > 0 ? { [name]: taken } : {}) as { [K in Name]?: Entry[] };
    },
  };
}

function endpointView({ record, runtime }: Endpoint): EndpointOnPage {
  const { id, name, gpuIds, scalerType, workersMin, workersMax } = record;
  return {
    id,
    name,
    gpuIds,
    scalerType,
    workersMin,
    workersMax,
    ...(runtime.balancer && { requests: runtime.requests() }),
    jobs: runtime.health().jobs,
    oldestQueuedAt: runtime.queue().oldestQueuedAt,
    scaling: runtime.scaling(),
    workers: runtime.workers(),
  };
}
