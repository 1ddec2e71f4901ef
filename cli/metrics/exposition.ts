import { Counter, Gauge, Registry } from "prom-client";
import { redact } from "../../sdk/errors/secretText";
import { shownSettings, type WatchedEndpoint } from "./endpointReads";
import { poolPrices, poolStock, workerPrice } from "./prices";
import type { Readings } from "./readings";

/** The labels on an endpoint's metrics. */
const ENDPOINT = ["endpoint", "endpoint_id", "stack"] as const;

/** The data that a scrape shows in addition to the readings. */
export interface ShownMetrics {
  readonly readings: Readings;
  /** The stack's name, used as the label `stack`; empty if there is none. */
  readonly stack: string;
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
  for (const row of [...endpointRows(shown), ...accountRows(shown), ...ownRows(shown)]) register(registry, row);
  // Endpoint names are free text and may contain a key.
  return { registry, render: async () => redact(await registry.metrics()) };
}

function register(registry: Registry, { name, help, labels = [], fill }: Row): void {
  const configuration = { name: `serverless_gpu_${name}`, help, labelNames: [...labels], registers: [registry] };
  const isCounter = name.endsWith("_total");
  const collect = () => {
    metric.reset();
    // Otherwise, prom-client would report 0 for a metric that has no labels and no value.
    metric.remove({});
    fill((given, value) => {
      if (value === undefined || value === null || !Number.isFinite(value)) return;
      if (metric instanceof Counter) metric.inc({ ...given }, value);
      else metric.set({ ...given }, value);
    });
  };
  const metric: Counter | Gauge = isCounter
    ? new Counter({ ...configuration, collect })
    : new Gauge({ ...configuration, collect });
}

function endpointRows({ readings, stack }: ShownMetrics): Row[] {
  const { clock, endpoints, catalog } = readings;
  const each = (set: Set, use: (watched: WatchedEndpoint, set: Set) => void) => {
    for (const watched of endpoints.values()) {
      const own = { endpoint: watched.settings?.name ?? "", endpoint_id: watched.id, stack };
      use(watched, (labels, value) => set({ ...own, ...labels }, value));
    }
  };
  const row = (
    name: string,
    help: string,
    use: (watched: WatchedEndpoint, set: Set) => void,
    more: readonly string[] = [],
  ) => ({
    name: `endpoint_${name}`,
    help,
    labels: [...ENDPOINT, ...more],
    fill: (set: Set) => each(set, use),
  });
  const setting = (name: string, help: string, field: "workersMin" | "workersMax" | "scalerValue" | "idleTimeout") =>
    row(name, help, (watched, set) => set({}, shownSettings(watched, clock)?.[field]));
  const jobs = ({ health }: WatchedEndpoint) => health.latest()?.jobs;
  return [
    row(
      "jobs",
      "Jobs that wait in the queue or are in progress.",
      (watched, set) => {
        set({ state: "queued" }, jobs(watched)?.inQueue);
        set({ state: "in_progress" }, jobs(watched)?.inProgress);
      },
      ["state"],
    ),
    row("jobs_completed_total", "Jobs that completed, as the service counts them.", (watched, set) =>
      set({}, jobs(watched)?.completed),
    ),
    row("jobs_failed_total", "Jobs that failed, as the service counts them.", (watched, set) =>
      set({}, jobs(watched)?.failed),
    ),
    row("jobs_retried_total", "Jobs that were retried, as the service counts them.", (watched, set) =>
      set({}, jobs(watched)?.retried),
    ),
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
      (watched, set) => {
        const workers = watched.health.latest()?.workers;
        const price = workerPrice(shownSettings(watched, clock), catalog.latest());
        if (workers && price !== undefined) set({}, Number(((workers.running + workers.idle) * price).toPrecision(12)));
      },
    ),
    setting("workers_min", "The endpoint's workersMin.", "workersMin"),
    setting("workers_max", "The endpoint's workersMax.", "workersMax"),
    setting("scaler_value", "The endpoint's scalerValue.", "scalerValue"),
    setting("idle_timeout_seconds", "The endpoint's idleTimeout.", "idleTimeout"),
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
    row("read_age_seconds", "Time since the endpoint's queue was last read.", ({ health }, set) =>
      set({}, health.ageS()),
    ),
    row(
      "read_errors_total",
      "Failed reads of the endpoint since this process started.",
      ({ health, details }, set) => {
        for (const [read, { errors }] of Object.entries({ health, details }))
          for (const [code, count] of errors) set({ read, code }, count);
      },
      ["read", "code"],
    ),
  ];
}

function accountRows({ readings: { account, catalog } }: ShownMetrics): Row[] {
  return [
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
      labels: ["gpu"],
      fill: (set) => {
        for (const [gpu, price] of poolPrices(catalog.latest())) set({ gpu }, price);
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
  const { list, account, catalog } = readings;
  const reads = Object.entries({ endpoints: list, account, catalog });
  return [
    {
      name: "read_age_seconds",
      help: "Time since a read of the account last succeeded.",
      labels: ["read"],
      fill: (set) => {
        for (const [read, { ageS }] of reads) set({ read }, ageS());
      },
    },
    {
      name: "read_errors_total",
      help: "Failed reads of the account since this process started.",
      labels: ["read", "code"],
      fill: (set) => {
        for (const [read, { errors }] of reads) for (const [code, count] of errors) set({ read, code }, count);
      },
    },
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
