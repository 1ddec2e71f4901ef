import { CAUSES, type CauseId } from "../../../sdk/diagnosis/causes";
import type { AlertSettings } from "../stackSettings";

/** What the rules take from the command, beside the state. */
export interface RuleOptions {
  /** The share of failed jobs from which an alert fires, from 0 to 1. */
  readonly failureShare: number;
  /** US dollars an hour. @default 80 % of the account's spend limit */
  readonly spendCap?: number | undefined;
  /** The minutes without a successful read from which an alert fires. */
  readonly staleMinutes: number;
}

/** A rule of Prometheus. */
export interface Rule {
  readonly alert: string;
  readonly expr: string;
  /** The time that the expression must be true, in seconds. */
  readonly forS: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A rule before it is written for an endpoint. */
interface Kind {
  readonly alert: string;
  readonly severity: "critical" | "warning";
  /** The causes that show like this, the likeliest first. */
  readonly causes: readonly CauseId[];
  /** What the alert says, instead of its causes. */
  readonly words?: string;
  readonly advice?: string;
  readonly command?: "logs";
  /** Returns the expression and its time; `undefined` if the settings rule it out. */
  when(series: Series, settings: AlertSettings, options: RuleOptions): Condition | undefined;
}

interface Condition {
  readonly expr: string;
  readonly forS: number;
}

/** The series of one endpoint. */
interface Series {
  readonly queued: string;
  readonly inProgress: string;
  /** Returns the number of workers in any of some states. */
  workers(...states: readonly string[]): string;
  /** Returns the increase of a counter. */
  added(counter: "completed" | "failed", window: string): string;
  /** Returns a metric without further labels. */
  metric(name: string): string;
}

const PREFIX = "serverless_gpu_endpoint_";
/** The readings of an interval and a scrape may each be late, in seconds. */
export const READ_LAG_S = 120;

function seriesOf(id: string): Series {
  const select = (name: string, more = "") => `${PREFIX}${name}{endpoint_id=${JSON.stringify(id)}${more}}`;
  const summed = (expr: string) => `sum by (endpoint, endpoint_id) (${expr})`;
  return {
    queued: summed(select("jobs", ',state="queued"')),
    inProgress: summed(select("jobs", ',state="in_progress"')),
    workers: (...states) => summed(select("workers", `,state=~"${states.join("|")}"`)),
    added: (counter, window) => summed(`increase(${select(`jobs_${counter}_total`)}[${window}])`),
    metric: (name) => summed(select(name)),
  };
}

const MINUTE_S = 60;
/** A wait in the queue that no scaler's delay explains, in seconds. */
const WAIT_S = 300;

// A job at each minute can be in the same state at each scrape. What has ended shows the rest.
const ended = (s: Series, window: string) => `(${s.added("completed", window)} + ${s.added("failed", window)})`;

/** The wait of the last job in the queue, at the pace of the last five minutes, in seconds. */
const waitOf = (s: Series) => `${s.queued} / clamp_min(${ended(s, "5m")} / 300, 0.000001)`;

const isQueue = ({ type, workersMax }: AlertSettings) => type !== "LOAD_BALANCER" && workersMax > 0;

const WITHOUT_JOBS_S = 6 * 60 * MINUTE_S;

/** Every alert about an endpoint. Thresholds follow from the settings in the state. */
export const ALERT_KINDS: readonly Kind[] = [
  {
    alert: "ServerlessGpuWorkersMaxReached",
    ...{ severity: "warning", causes: ["workers-busy"] },
    when: (s, settings) =>
      isQueue(settings)
        ? {
            // Jobs that end show that the workers work.
            expr: `${s.queued} > 0 and ${s.workers("running")} >= ${settings.workersMax} and ${s.added("completed", "10m")} > 0`,
            forS: 10 * MINUTE_S,
          }
        : undefined,
  },
  {
    alert: "ServerlessGpuQueueNotServed",
    ...{ severity: "critical", causes: ["no-stock", "worker-quota", "spend-limit", "volume-place", "cuda-version"] },
    when(s, settings) {
      if (!isQueue(settings)) return undefined;
      const { scalerType, scalerValue, workersMax } = settings;
      const isCount = scalerType === "REQUEST_COUNT";
      const wants = `ceil((${s.queued} + ${s.inProgress}) / ${Math.max(1, scalerValue)}) > ${s.workers("running")}`;
      const stuck = s.workers("idle", "initializing", "throttled", "unhealthy");
      const waits = `${waitOf(s)} > ${Math.max(WAIT_S, isCount ? 0 : scalerValue)}`;
      return {
        expr:
          `${s.queued} > 0 and ${s.workers("running")} < ${workersMax} and ${stuck} == 0 and ${waits}` +
          (isCount ? ` and ${wants}` : ""),
        forS: 5 * MINUTE_S,
      };
    },
  },
  {
    alert: "ServerlessGpuWorkersTakeNoJobs",
    ...{ severity: "critical", causes: ["handler-takes-no-jobs"], command: "logs" },
    when: (s, settings) =>
      isQueue(settings)
        ? {
            expr: `${s.queued} > 0 and ${s.inProgress} == 0 and ${s.workers("idle")} > 0 and ${ended(s, "5m")} == 0`,
            forS: 5 * MINUTE_S,
          }
        : undefined,
  },
  {
    alert: "ServerlessGpuThrottled",
    ...{ severity: "warning", causes: ["throttled"] },
    when: (s, settings) =>
      isQueue(settings)
        ? { expr: `${s.queued} > 0 and ${s.workers("throttled")} > 0 and ${waitOf(s)} > ${WAIT_S}`, forS: 5 * MINUTE_S }
        : undefined,
  },
  {
    alert: "ServerlessGpuWorkersUnhealthy",
    ...{ severity: "critical", causes: ["crash-loop", "image-pull"], command: "logs" },
    when: (s) => ({ expr: `${s.workers("unhealthy")} > 0`, forS: 2 * MINUTE_S }),
  },
  {
    alert: "ServerlessGpuSlowStart",
    ...{ severity: "warning", causes: ["image-pulling"], command: "logs" },
    when: (s, settings) =>
      isQueue(settings)
        ? {
            expr:
              `${s.queued} > 0 and ${s.workers("initializing")} > 0 and ${s.workers("running", "idle")} == 0 ` +
              `and ${s.workers("unhealthy")} == 0 and ${ended(s, "5m")} == 0`,
            forS: 10 * MINUTE_S,
          }
        : undefined,
  },
  {
    alert: "ServerlessGpuJobsFail",
    ...{ severity: "critical", causes: ["jobs-failing"], command: "logs" },
    when: (s, settings, { failureShare }) => {
      if (!isQueue(settings)) return undefined;
      const failed = s.added("failed", "15m");
      return {
        expr: `${failed} >= 2 and ${failed} / (${failed} + ${s.added("completed", "15m")}) > ${failureShare}`,
        forS: MINUTE_S,
      };
    },
  },
  {
    alert: "ServerlessGpuNotScaledDown",
    ...{ severity: "warning", causes: [] },
    words: "more workers than workersMin run, and there are no jobs",
    advice:
      "Look at workersStandby and idleTimeout of the endpoint at the service. You may still be charged for the workers",
    when: (s, settings) =>
      isQueue(settings)
        ? {
            expr:
              `${s.workers("running", "idle")} > ${settings.workersMin} and ${s.queued} == 0 and ${s.inProgress} == 0 ` +
              `and ${ended(s, "10m")} == 0`,
            forS: 10 * MINUTE_S + settings.idleTimeout,
          }
        : undefined,
  },
  {
    alert: "ServerlessGpuBilledWithoutJobs",
    ...{ severity: "warning", causes: [] },
    words: "workers are billed, and no job has run for six hours",
    advice: "Lower workersMin if jobs may wait for a start",
    when: (s, settings) =>
      isQueue(settings) && settings.workersMin > 0
        ? {
            expr:
              `${s.workers("running", "idle")} > 0 and ${s.workers("running", "idle")} <= ${settings.workersMin} and ${s.inProgress} == 0 ` +
              `and ${ended(s, "10m")} == 0`,
            forS: WITHOUT_JOBS_S,
          }
        : undefined,
  },
];

/** Returns the rules of an endpoint. */
export function rulesOf(settings: AlertSettings, options: RuleOptions): Rule[] {
  const series = seriesOf(settings.id);
  // What is old proves nothing: the last value is shown for five minutes.
  const isFresh = `${series.metric("read_age_seconds")} < ${READ_LAG_S}`;
  const own = ALERT_KINDS.flatMap((kind) => {
    const condition = kind.when(series, settings, options);
    return condition ? [rule(kind, { ...condition, expr: `${condition.expr} and ${isFresh}` }, settings)] : [];
  });
  return [...own, driftRule(series, settings), unreadRule(settings, options)];
}

function rule(kind: Omit<Kind, "when">, { expr, forS }: Condition, { id, name }: AlertSettings): Rule {
  const { alert, severity, causes, command } = kind;
  const [first] = causes;
  const words = kind.words ?? causes.map((cause) => CAUSES[cause].words).join(", or ");
  const advice = kind.advice ?? (first ? CAUSES[first].advice : "");
  return {
    ...{ alert, expr, forS },
    labels: { severity, endpoint: plain(name), endpoint_id: id },
    annotations: {
      summary: plain(`${name}: ${words}`),
      description: plain(advice),
      command: `npx pulumi-serverless-gpu explain ${id}${command === "logs" ? " --logs --api v2" : ""}`,
    },
  };
}

function driftRule(series: Series, settings: AlertSettings): Rule {
  const { workersMin, workersMax, scalerType, scalerValue, idleTimeout } = settings;
  const wanted: Readonly<Record<string, number>> = {
    ...{ workers_min: workersMin, workers_max: workersMax, scaler_value: scalerValue },
    // REQUEST_COUNT does not use it, and REST v2 does not keep it.
    ...(scalerType !== "REQUEST_COUNT" && { idle_timeout_seconds: idleTimeout }),
  };
  const differs = Object.entries(wanted).map(([metric, value]) => `${series.metric(metric)} != ${value}`);
  const words = "workersMin, workersMax, scalerValue or idleTimeout differ from the state";
  const advice =
    "Someone or the service has changed them. pulumi preview --refresh shows what differs, pulumi up restores it";
  return {
    ...rule(
      { alert: "ServerlessGpuDrift", severity: "warning", causes: [], words, advice },
      { expr: differs.join(" or "), forS: 5 * MINUTE_S },
      settings,
    ),
  };
}

function unreadRule(settings: AlertSettings, { staleMinutes }: RuleOptions): Rule {
  const age = `serverless_gpu_endpoint_read_age_seconds{endpoint_id=${JSON.stringify(settings.id)}}`;
  const words = `its queue was not read for ${staleMinutes} minutes`;
  const advice =
    "Check that serverless-gpu metrics runs, its key, and that the endpoint exists. After a replacement, write the rules again";
  return rule(
    { alert: "ServerlessGpuNoRead", severity: "critical", causes: [], words, advice },
    { expr: `max by (endpoint_id) (${age}) > ${staleMinutes * MINUTE_S} or absent(${age})`, forS: 2 * MINUTE_S },
    settings,
  );
}

/** Returns the rules of the account. */
export function accountRules({ spendCap, staleMinutes }: RuleOptions): Rule[] {
  const spend = "max(serverless_gpu_account_dollars_per_hour)";
  const cap = spendCap === undefined ? "0.8 * max(serverless_gpu_account_limit_dollars_per_hour)" : String(spendCap);
  const estimate = "sum(serverless_gpu_endpoint_dollars_per_hour)";
  const account = (
    alert: string,
    severity: string,
    condition: Condition,
    summary: string,
    description: string,
  ): Rule => ({
    ...{ alert, ...condition, labels: { severity } },
    annotations: { summary, description, command: "npx pulumi-serverless-gpu doctor" },
  });
  return [
    account(
      ...(["ServerlessGpuSpend", "warning"] as const),
      { expr: `(${spend}${spendCap === undefined ? "" : ` or ${estimate}`}) > ${cap}`, forS: 5 * MINUTE_S },
      spendCap === undefined
        ? "What runs costs more than 80 % of the account's spend limit"
        : `What runs costs more than ${spendCap} US dollars an hour`,
      CAUSES["spend-limit"].advice,
    ),
    account(
      ...(["ServerlessGpuNoAccountRead", "critical"] as const),
      {
        expr: `max(serverless_gpu_read_age_seconds{read="endpoints"}) > ${staleMinutes * MINUTE_S}`,
        forS: 2 * MINUTE_S,
      },
      `The list of endpoints was not read for ${staleMinutes} minutes`,
      "Check the key, and that the service can be reached",
    ),
    account(
      ...(["ServerlessGpuRecordingStopped", "warning"] as const),
      { expr: "max(serverless_gpu_recording) == 0", forS: 0 },
      "Metrics are no longer recorded",
      "Check the disk and the folder, and start serverless-gpu metrics again",
    ),
  ];
}

/** Names are free text, and Prometheus would execute a template in them. */
function plain(text: string): string {
  return text.replaceAll("{{", "{ {");
}
