import type { Client, Endpoint, EndpointHealth, EndpointRelease } from "../../sdk";
import type { Clock } from "../../sdk/contract/clock";
import { type Counted, createCounted } from "./counter";
import { createRead, type MetricRead, SHOWN_MS } from "./read";

/** The worker states that RunPod bills, or may bill. */
const COUNTED_STATES = ["running", "idle", "initializing"] as const;

/** The endpoint settings that are exported as metrics. */
export type WatchedSettings = Pick<
  Endpoint,
  | "name"
  | "type"
  | "workersMin"
  | "workersMax"
  | "scalerType"
  | "scalerValue"
  | "idleTimeout"
  | "gpuIds"
  | "gpuCount"
  | "instanceIds"
>;

/** Details about an endpoint's releases and workers, from a separate read. */
interface Details {
  /** The latest release, if the API shows releases. */
  readonly release: EndpointRelease | undefined;
  /** The number of workers on an older release, if the service shows it. */
  readonly stale: number | undefined;
}

/** A health record and the time when it was read. */
interface SeenHealth extends EndpointHealth {
  /** When the response arrived, in milliseconds since the epoch. */
  readonly at: number;
}

/** An endpoint whose queue is monitored. */
export interface WatchedEndpoint {
  readonly id: string;
  /** The settings from the most recent list that contained the endpoint. */
  settings: WatchedSettings | undefined;
  /** When a list last contained the endpoint: in milliseconds since the epoch, and by the clock. */
  listed: { readonly at: number; readonly monotonic: number } | undefined;
  /** The number of lists since then that did not contain the endpoint. */
  missing: number;
  /** `true` if the endpoint is gone, and a state that was read after that still contains it. */
  isMissed: boolean;
  readonly health: MetricRead<SeenHealth>;
  readonly details: MetricRead<Details>;
  readonly counters: Readonly<Record<"completed" | "failed" | "retried", Counted>>;
  /** When a read last showed a job, in milliseconds of the monotonic clock. */
  activeAt: number | undefined;
  /** Worker seconds since the start, by GPU pool and state. */
  readonly workerSeconds: Map<string, { readonly gpu: string; readonly state: string; seconds: number }>;
  /** The monotonic time of the last successful queue read, and the worker counts at that time. */
  counted: { readonly at: number; readonly workers: Readonly<Record<string, number>> } | undefined;
}

/** Notes a failed read of an endpoint, to report it together with those of other endpoints. */
export type Failed = (read: "queue" | "workers", id: string) => (error: unknown) => void;

/** Send each read only once, because the next one follows soon. */
export const ONCE = { timeoutMs: 10_000, maxRetries: 0 };

/** The options that the reads of all endpoints share. */
export interface WatchOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** `true` if the API shows releases, as REST v2 does. */
  readonly showsReleases: boolean;
  readonly failed: Failed;
  /** Returns how long details are shown after they were read, in milliseconds. */
  readonly detailsShownMs: () => number;
}

/** Creates the reads for one endpoint. */
export function watch(id: string, options: WatchOptions): WatchedEndpoint {
  const { client, clock, showsReleases, failed, detailsShownMs } = options;
  const watched: WatchedEndpoint = {
    id,
    settings: undefined,
    listed: undefined,
    missing: 0,
    isMissed: false,
    counted: undefined,
    counters: { completed: createCounted(), failed: createCounted(), retried: createCounted() },
    activeAt: undefined,
    workerSeconds: new Map(),
    health: createRead(
      clock,
      async () => {
        const health = await client.endpoint(id).health(ONCE);
        countJobs(watched, health, clock.monotonic());
        countWorkers(watched, health, clock.monotonic());
        return { ...health, at: clock.now() };
      },
      failed("queue", id),
    ),
    details: createRead(
      clock,
      async () => {
        const [release] = showsReleases ? ((await client.endpoints.releases(id, { ...ONCE, limit: 1 })) ?? []) : [];
        const workers = await client.endpoints.workers(id, ONCE);
        const isKnown = workers.every(({ isStale }) => isStale !== undefined);
        return { release, stale: isKnown ? workers.filter(({ isStale }) => isStale).length : undefined };
      },
      failed("workers", id),
      detailsShownMs,
    ),
  };
  return watched;
}

/** Counts ended jobs, and notes whether the endpoint has had a job since the last read. */
function countJobs(watched: WatchedEndpoint, { jobs }: EndpointHealth, now: number): void {
  const { completed, failed, retried } = watched.counters;
  const endedBefore = [completed.value, failed.value].join();
  completed.note(jobs.completed);
  failed.note(jobs.failed);
  retried.note(jobs.retried);
  const isActive = jobs.inQueue + jobs.inProgress > 0 || [completed.value, failed.value].join() !== endedBefore;
  if (isActive || watched.activeAt === undefined) watched.activeAt = now;
}

/** Adds the worker time since the last read. Time without reads is not counted. */
function countWorkers(watched: WatchedEndpoint, { workers }: EndpointHealth, now: number): void {
  const { counted, workerSeconds, settings } = watched;
  const counts = Object.fromEntries(COUNTED_STATES.map((state) => [state, Math.max(0, workers[state] ?? 0)]));
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

/** Returns what the workers run on: the GPU pools in order, or `cpu`. */
export function processorOf(settings: WatchedSettings | undefined): string {
  if (!settings) return "";
  return settings.instanceIds === "" ? settings.gpuIds : "cpu";
}

/** Returns the seconds since a list last showed the endpoint; infinite before. */
export function settingsAgeS({ listed }: WatchedEndpoint, clock: Clock): number {
  return (clock.monotonic() - (listed?.monotonic ?? Number.NEGATIVE_INFINITY)) / 1000;
}

/**
 * Returns `true` if an endpoint is gone: two lists in a row don't show it, and its queue no longer
 * exists. A list alone proves nothing, because it may be cut off or empty.
 */
export function isGone({ missing, health }: WatchedEndpoint): boolean {
  return missing >= 2 && health.lastError === "NOT_FOUND";
}
