import type { Client, Endpoint, EndpointHealth, EndpointRelease } from "../../sdk";
import type { Clock } from "../../sdk/contract/clock";
import { createRead, type MetricRead, SHOWN_MS } from "./read";

/** The states of workers in which the service bills them, or may. */
export const COUNTED_STATES = ["running", "idle", "initializing"] as const;

/** The settings of an endpoint that are exported. */
export type WatchedSettings = Pick<
  Endpoint,
  "name" | "workersMin" | "workersMax" | "scalerValue" | "idleTimeout" | "gpuIds" | "gpuCount" | "instanceIds"
>;

/** What another read shows about an endpoint's releases and workers. */
export interface Details {
  /** The latest release, if the API shows releases. */
  readonly release: EndpointRelease | undefined;
  /** Workers of an older release, if the service shows it. */
  readonly stale: number | undefined;
}

/** A health record, and when it was read. */
export interface SeenHealth extends EndpointHealth {
  /** In milliseconds since the epoch. */
  readonly at: number;
}

/** An endpoint whose queue is read. */
export interface WatchedEndpoint {
  readonly id: string;
  /** Its settings as the list last showed them. */
  settings: WatchedSettings | undefined;
  /** When the list last showed it, in milliseconds of the monotonic clock. */
  listedAt: number;
  /** The number of lists since then that did not show it. */
  missing: number;
  readonly health: MetricRead<SeenHealth>;
  readonly details: MetricRead<Details>;
  /** The seconds of its workers since the start, by GPU tiers and state. */
  readonly workerSeconds: Map<string, { readonly gpu: string; readonly state: string; seconds: number }>;
  /** When its queue was last read with success, and the counts of workers then. */
  counted: { readonly at: number; readonly workers: Readonly<Record<string, number>> } | undefined;
}

/** Reports a failed read. */
export type Failed = (what: string) => (error: unknown) => void;

/** A read of an endpoint is sent once: the next one follows soon. */
export const ONCE = { timeoutMs: 10_000, maxRetries: 0 };

/** Makes the reads of one endpoint. */
export function watch(
  client: Client,
  clock: Clock,
  id: string,
  showsReleases: boolean,
  failed: Failed,
): WatchedEndpoint {
  const watched: WatchedEndpoint = {
    ...{ id, settings: undefined, listedAt: Number.NEGATIVE_INFINITY, missing: 0, counted: undefined },
    workerSeconds: new Map(),
    health: createRead(
      clock,
      async () => {
        const health = await client.endpoint(id).health(ONCE);
        countWorkers(watched, health, clock.monotonic());
        return { ...health, at: clock.now() };
      },
      failed(`the queue of endpoint ${id}`),
    ),
    details: createRead(
      clock,
      async () => {
        const [release] = showsReleases ? ((await client.endpoints.releases(id, { ...ONCE, limit: 1 })) ?? []) : [];
        const workers = await client.endpoints.workers(id, ONCE);
        const isKnown = workers.every(({ isStale }) => isStale !== undefined);
        return { release, stale: isKnown ? workers.filter(({ isStale }) => isStale).length : undefined };
      },
      failed(`the workers of endpoint ${id}`),
    ),
  };
  return watched;
}

/** Adds the time of the workers since the last read. Time without reads is not counted. */
function countWorkers(watched: WatchedEndpoint, { workers }: EndpointHealth, now: number): void {
  const { counted, workerSeconds, settings } = watched;
  const counts = Object.fromEntries(COUNTED_STATES.map((state) => [state, workers[state] ?? 0]));
  watched.counted = { at: now, workers: counts };
  if (!counted || now - counted.at > SHOWN_MS) return;
  const gpu = processorOf(settings);
  for (const [state, count] of Object.entries(counted.workers)) {
    const key = `${gpu} ${state}`;
    const known = workerSeconds.get(key) ?? { gpu, state, seconds: 0 };
    known.seconds += (count * (now - counted.at)) / 1000;
    workerSeconds.set(key, known);
  }
}

/** Returns what the workers run on: the GPU tiers in order, or `cpu`. */
export function processorOf(settings: WatchedSettings | undefined): string {
  if (!settings) return "";
  return settings.instanceIds === "" ? settings.gpuIds : "cpu";
}

/** Returns the settings of an endpoint, for five minutes after the list showed them. */
export function shownSettings({ settings, listedAt }: WatchedEndpoint, clock: Clock): WatchedSettings | undefined {
  return clock.monotonic() - listedAt > SHOWN_MS ? undefined : settings;
}

/**
 * Returns `true` if an endpoint is gone: two lists do not show it, and its queue does not exist. A
 * list alone proves nothing, because it may be cut off or empty.
 */
export function isGone({ missing, health }: WatchedEndpoint): boolean {
  return missing >= 2 && health.lastError === "NOT_FOUND";
}
