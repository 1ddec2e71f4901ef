/** How late the reading of a queue can be, in seconds: a read interval and a scrape interval. */
const READ_LAG_S = 120;

const PREFIX = "serverless_gpu_";
// Prometheus names every exporter with these labels.
const EXPORTER = "job, instance";

const ageOf = (read: string) => `${PREFIX}endpoint_read_age_seconds{read="${read}"}`;

/**
 * Returns only the series that come from an exporter whose last read of the endpoint is recent. An
 * old value proves nothing.
 */
export const fresh = (series: string, read = "queue", lagS = READ_LAG_S) =>
  `(${series} and on (${EXPORTER}, endpoint_id) ${ageOf(read)} < ${lagS})`;

/**
 * Returns one value for each endpoint, regardless of how many exporters read it. Nothing else
 * identifies an endpoint: its name can change, and two exporters may have seen different ones.
 */
export const byEndpoint = (series: string, operator: "max" | "min" | "group" = "max") =>
  `${operator} by (endpoint_id) ${series.startsWith("(") ? series : `(${series})`}`;

/** Returns an expression for a metric of each endpoint. */
export const metric = (selector: string) => byEndpoint(fresh(`${PREFIX}endpoint_${selector}`));

/** Returns an expression for the number of workers in any of the states. */
export const workers = (...states: readonly string[]) =>
  byEndpoint(`sum without (state) ${fresh(`${PREFIX}endpoint_workers{state=~"${states.join("|")}"}`)}`);

/**
 * Returns an expression for the increase of a counter; no value if the counter was reset. An
 * exporter that starts again shows the service's counter, which may be a little lower than the last
 * value, and the whole counter would count as an increase.
 */
export const added = (counter: string, window: string) => {
  const counted = `${PREFIX}endpoint_${counter}[${window}]`;
  return byEndpoint(fresh(`(increase(${counted}) unless resets(${counted}) > 0)`));
};

/** Returns an expression for the number of jobs that ended. */
// With one job a minute, every scrape may find the same job states, so count finished jobs instead.
export const ended = (window: string) =>
  `(${added("jobs_completed_total", window)} + ${added("jobs_failed_total", window)})`;

export const QUEUED = metric('jobs{state="queued"}');
export const IN_PROGRESS = metric('jobs{state="in_progress"}');
export const RUNNING = workers("running");
export const WORKERS_MAX = metric("workers_max");

/** How long the last waiting job would wait at the pace of the last five minutes, in seconds. */
export const WAIT = `${QUEUED} / clamp_min(${ended("5m")} / 300, 0.000001)`;

/** Matches the endpoints whose number of workers depends on the number of jobs. */
export const COUNTS_REQUESTS = metric('info{scaler_type="REQUEST_COUNT"}');
