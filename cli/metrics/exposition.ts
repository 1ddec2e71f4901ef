import { Counter, Gauge, Registry } from "prom-client";
import { ruleAt } from "../../sdk/endpoints/schedule";
import { redact } from "../../sdk/errors/secretText";
import { shownCounts } from "../shownValues";
import { settingsAgeS, type WatchedEndpoint } from "./endpointReads";
import { poolPrices, poolStock, workersCost } from "./prices";
import type { MetricRead } from "./read";
import type { Readings } from "./readings";
import { COMPARED } from "./wanted";

/** The data that a scrape shows in addition to the readings. */
interface ShownMetrics {
  readonly readings: Readings;
  readonly version: string;
  readonly api: string;
  /**
   * Returns `true` while a recorder is writing and `false` after it has failed. @default no
   * recorder
   */
  readonly isRecording?: (() => boolean) | undefined;
}

type Labels = Readonly<Record<string, string | number>>;

/** Sets the value of one series. An unknown value adds no series, because absent is not zero. */
type Set = (labels: Labels, value: number | null | undefined) => void;

/** A metric, and how to fill its series at each scrape. */
interface Row {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  fill(set: Set): void;
}

/** Returns a function that renders the readings as metrics. It sends no request. */
export function createExposition(shown: ShownMetrics): {
  readonly render: () => Promise<string>;
  readonly registry: Registry;
} {
  const registry = new Registry();
  for (const row of rowsOf(shown)) register(registry, row);
  return { registry, render: () => registry.metrics() };
}

function rowsOf(shown: ShownMetrics): Row[] {
  const { readings } = shown;
  const ofEndpoints = [jobRows, workerRows, settingRows].flatMap((rows) => rows(readings));
  return [...ofEndpoints, ...readRows(readings), ...accountRows(readings), ...ownRows(shown)];
}

function register(registry: Registry, { name, help, labels = [], fill }: Row): void {
  const configuration = { name: `serverless_gpu_${name}`, help, labelNames: [...labels], registers: [registry] };
  const isCounter = name.endsWith("_total");
  const collect = () => {
    metric.reset();
    // Otherwise, prom-client would report 0 for a metric that has no labels and no value.
    metric.remove({});
    fill((given, value) => {
      // Endpoint names are free text and may contain a key. Each label's value is redacted on its
      // own, because redacting a whole line would hide everything after a word such as
      // "authorization", including the next label.
      if (value === undefined || value === null || !Number.isFinite(value)) return;
      const shown = Object.fromEntries(Object.entries(given).map(([label, text]) => [label, redact(`${text}`)]));
      if (metric instanceof Counter) metric.inc(shown, Math.max(0, value));
      else metric.set(shown, value);
    });
  };
  const metric: Counter | Gauge = isCounter
    ? new Counter({ ...configuration, collect })
    : new Gauge({ ...configuration, collect });
}

/** Adds series of one endpoint. They get the label `endpoint_id`. */
type Fill = (watched: WatchedEndpoint, set: Set) => void;

/** Returns a function that makes the row of a metric with series for each endpoint. */
function endpointRow({ endpoints }: Readings) {
  return (name: string, help: string, fill: Fill, more: readonly string[] = []): Row => ({
    name: `endpoint_${name}`,
    help,
    labels: ["endpoint_id", ...more],
    fill(set) {
      for (const watched of endpoints.values())
        fill(watched, (labels, value) => set({ endpoint_id: watched.id, ...labels }, value));
    },
  });
}

function jobRows(readings: Readings): Row[] {
  const row = endpointRow(readings);
  const isQueue = ({ settings }: WatchedEndpoint) => settings !== undefined && settings.type !== "LOAD_BALANCER";
  const counter = (name: "completed" | "failed" | "retried", did: string) =>
    row(`jobs_${name}_total`, `Jobs that ${did}, as the service counts them.`, ({ health, counters }, set) =>
      set({}, health.latest() && counters[name].value),
    );
  return [
    row(
      "jobs",
      "Jobs that wait in the queue or are in progress.",
      ({ health }, set) => {
        set({ state: "queued" }, health.latest()?.jobs.inQueue);
        set({ state: "in_progress" }, health.latest()?.jobs.inProgress);
      },
      ["state"],
    ),
    counter("completed", "completed"),
    counter("failed", "failed"),
    counter("retried", "were retried"),
    row("idle_seconds", "Time without a job, up to the last read of the queue.", (watched, set) => {
      const { health, counted, activeAt } = watched;
      if (health.latest() && isQueue(watched) && counted) set({}, (counted.at - (activeAt ?? counted.at)) / 1000);
    }),
  ];
}

function workerRows(readings: Readings): Row[] {
  const row = endpointRow(readings);
  return [
    row(
      "workers",
      "Workers by state.",
      ({ health }, set) => {
        const workers = health.latest()?.workers;
        for (const state of ["running", "idle", "initializing", "throttled", "unhealthy"] as const)
          set({ state }, workers?.[state]);
      },
      ["state"],
    ),
    row("stale_workers", "Workers of an older release.", ({ details }, set) => set({}, details.latest()?.stale)),
    row(
      "worker_seconds_total",
      "Time of workers since this process started, by GPU pools and state.",
      ({ workerSeconds, health }, set) => {
        if (health.latest() === undefined) return;
        for (const { gpu, state, seconds } of workerSeconds.values()) set({ gpu, state }, seconds);
      },
      ["gpu", "state"],
    ),
    row(
      "dollars_per_hour",
      "Estimated cost of the running and idle workers, in US dollars an hour.",
      ({ settings, health }, set) => {
        const cost = workersCost(settings, health.latest()?.workers, readings.catalog.latest());
        if (cost) set({ price: cost.source }, cost.dollars);
      },
      ["price"],
    ),
    row(
      "release_info",
      "The latest release, as a label (REST v2).",
      ({ details }, set) => {
        const release = details.latest()?.release;
        if (release) set({ release: String(release.version ?? release.id) }, 1);
      },
      ["release"],
    ),
    row("release_timestamp_seconds", "When the latest release was made (REST v2).", ({ details }, set) => {
      const { createdAt } = details.latest()?.release ?? {};
      set({}, createdAt === undefined ? undefined : Date.parse(createdAt) / 1000);
    }),
  ];
}

/** Returns the rows of the settings at the service, and of those in the stack's state. */
function settingRows(readings: Readings): Row[] {
  const row = endpointRow(readings);
  const wanted = ({ id }: WatchedEndpoint) => readings.state?.latest()?.get(id);
  return [
    row(
      "info",
      "The endpoint's name, type and scalerType, and its stack, as labels.",
      (watched, set) => {
        if (!watched.settings) return;
        const { name, type, scalerType } = watched.settings;
        const stack = wanted(watched)?.stack;
        set({ name, ...(type && { type }), scaler_type: scalerType, ...(stack && { stack }) }, 1);
      },
      ["name", "type", "scaler_type", "stack"],
    ),
    // An old setting is better than none, as its age is shown.
    ...Object.entries(COMPARED).map(([field, name]) =>
      row(name, `The endpoint's ${field}.`, ({ settings, health }, set) =>
        set({}, health.latest() && settings?.[field as keyof typeof COMPARED]),
      ),
    ),
    ...Object.entries(COMPARED).map(([field, name]) =>
      row(`wanted_${name}`, `The endpoint's ${field} in the stack's state.`, (watched, set) =>
        set({}, wanted(watched)?.settings[field as keyof typeof COMPARED]),
      ),
    ),
    row(
      "schedule_info",
      "The schedule rule that applies now, as a label. The schedule is the one in the stack's state.",
      (watched, set) => {
        const schedule = wanted(watched)?.schedule;
        if (!schedule) return;
        const { rule } = ruleAt(schedule, readings.clock.now());
        set({ rule: `${rule.cron} (${schedule.timeZone}): ${shownCounts(rule)}` }, 1);
      },
      ["rule"],
    ),
    row("spend_dollars", "What the endpoint has cost in this month (UTC), as far as it is billed.", ({ id }, set) => {
      const month = readings.spend.latest();
      if (month) set({}, month.groups?.find(({ key }) => key === id)?.amount ?? 0);
    }),
    row("gone", "1 if an endpoint of the stack's state does not exist at the service.", (watched, set) => {
      if (wanted(watched)) set({}, watched.isMissed ? 1 : 0);
    }),
  ];
}

/** Returns the rows about the reads of the account and of the endpoints. */
function readRows(readings: Readings): Row[] {
  const { clock, list, account, catalog, spend, state } = readings;
  type Read = Pick<MetricRead<unknown>, "readAt" | "errors" | "ageS">;
  const ofAccount: [string, Read][] = Object.entries({
    endpoints: list,
    account,
    catalog,
    spend,
    ...(state && { state }),
  });
  const ofEndpoint = ({ health, details }: WatchedEndpoint): [string, Read][] =>
    Object.entries({ queue: health, workers: details });
  const row = endpointRow(readings);
  const pair = (name: string, help: string, value: (read: Read) => number | undefined, more?: Fill): Row[] => [
    {
      name,
      help,
      labels: ["read"],
      fill: (set) => {
        for (const [read, each] of ofAccount) set({ read }, value(each));
      },
    },
    row(
      name,
      `${help} Of an endpoint.`,
      (watched, set) => {
        for (const [read, each] of ofEndpoint(watched)) set({ read }, value(each));
        more?.(watched, set);
      },
      ["read"],
    ),
  ];
  const settings = { read: "settings" };
  return [
    ...pair(
      "read_age_seconds",
      "Time since a read last succeeded, or since the start.",
      ({ ageS }) => ageS(),
      (watched, set) => set(settings, settingsAgeS(watched, clock)),
    ),
    ...pair(
      "read_timestamp_seconds",
      "When a read last succeeded.",
      ({ readAt }) => readAt && readAt / 1000,
      ({ listed }, set) => set(settings, listed && listed.at / 1000),
    ),
    ...pair("read_errors_total", "Failed reads since this process started.", ({ errors }) => errors),
  ];
}

function accountRows({ account, catalog, spend }: Readings): Row[] {
  return [
    {
      name: "account_spend_dollars",
      help: "What endpoints have cost in this month (UTC), as far as it is billed, in US dollars.",
      fill: (set) => set({}, spend.latest()?.amount),
    },
    {
      name: "account_worker_quota",
      help: "The largest sum of workersMax over all endpoints.",
      fill: (set) => set({}, account.latest()?.workerQuota),
    },
    {
      name: "account_dollars_per_hour",
      help: "The cost of everything that runs in the account, in US dollars an hour.",
      fill: (set) => set({}, account.latest()?.currentSpend),
    },
    {
      name: "account_limit_dollars_per_hour",
      help: "The account's spend limit, in US dollars an hour.",
      fill: (set) => set({}, account.latest()?.spendLimit),
    },
    {
      name: "account_balance_dollars",
      help: "The account's balance in US dollars.",
      fill: (set) => set({}, account.latest()?.balance),
    },
    {
      name: "gpu_price_dollars_per_hour",
      help: "The highest price of one GPU of a worker in a GPU pool, in US dollars an hour.",
      labels: ["gpu", "source"],
      fill: (set) => {
        for (const [gpu, { dollars, source }] of poolPrices(catalog.latest())) set({ gpu, source }, dollars);
      },
    },
    {
      name: "gpu_stock",
      help: "Best stock of a GPU pool: 0 none, 1 low or unknown, 2 medium, 3 high.",
      labels: ["gpu"],
      fill: (set) => {
        for (const [gpu, level] of poolStock(catalog.latest())) set({ gpu }, level);
      },
    },
  ];
}

function ownRows({ readings, version, api, isRecording }: ShownMetrics): Row[] {
  return [
    {
      name: "management_requests_total",
      help: "Requests to the management API since this process started.",
      fill: (set) => set({}, readings.managementRequests),
    },
    {
      name: "recording",
      help: "1 while the recorder writes, 0 after it had to stop.",
      fill: (set) => set({}, isRecording && (isRecording() ? 1 : 0)),
    },
    {
      name: "exporter_info",
      help: "The version of this package, and the API that it reads.",
      labels: ["version", "api"],
      fill: (set) => set({ version, api }, 1),
    },
  ];
}
