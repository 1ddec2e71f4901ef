import { adviceOn, type CauseId, WORDS } from "../../../sdk/diagnosis/causes";
import type { AlertSettings } from "../stackSettings";

/** The options that the rules take from the command line. */
export interface RuleOptions {
  /** The share of failed jobs (0 to 1) at which an alert fires. */
  readonly failureShare: number;
  /**
   * The spend at which an alert fires, in US dollars an hour. @default 80 % of the account's spend
   * limit
   */
  readonly spendCap?: number | undefined;
  /** Minutes without a successful read after which an alert fires. */
  readonly staleMinutes: number;
}

/** A Prometheus alerting rule. */
export interface Rule {
  readonly alert: string;
  readonly expr: string;
  /** How long the expression must be true before the alert fires, in seconds. */
  readonly forS: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A template for a rule, from which each endpoint's rule is made. */
interface Kind {
  readonly alert: string;
  readonly severity: "critical" | "warning";
  /** The causes that produce this symptom, most likely first. */
  readonly causes: readonly CauseId[];
  /** The alert's text, if it does not list the causes. */
  readonly words?: string;
  readonly advice?: string;
  readonly command?: "logs";
  /**
   * Returns the expression and its duration, or `undefined` if the alert cannot occur with these
   * settings.
   */
  when(series: Series, settings: AlertSettings, options: RuleOptions): Condition | undefined;
}

interface Condition {
  readonly expr: string;
  readonly forS: number;
}

/** The time series of one endpoint. */
interface Series {
  readonly queued: string;
  readonly inProgress: string;
  /** Returns an expression for the number of workers in any of the states. */
  workers(...states: readonly string[]): string;
  /** Returns an expression for the increase of a counter. */
  added(counter: "completed" | "failed", window: string): string;
  /** Returns a selector for a metric of this endpoint. */
  metric(name: string): string;
}

const PREFIX = "serverless_gpu_endpoint_";
/** How late a reading can be, in seconds: one read interval plus one scrape interval. */
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
/** A queue delay that no scaler setting explains, in seconds. */
const WAIT_S = 300;

// One job a minute can be in the same state at every scrape, so finished jobs are counted instead.
const ended = (s: Series, window: string) => `(${s.added("completed", window)} + ${s.added("failed", window)})`;

/**
 * How long the last job in the queue would wait at the pace of the last five minutes, in seconds.
 */
const waitOf = (s: Series) => `${s.queued} / clamp_min(${ended(s, "5m")} / 300, 0.000001)`;

const isQueue = ({ type, workersMax }: AlertSettings) => type !== "LOAD_BALANCER" && workersMax > 0;

const WITHOUT_JOBS_S = 6 * 60 * MINUTE_S;

/** All alerts about an endpoint. The thresholds follow from its settings in state. */
export const ALERT_KINDS: readonly Kind[] = [
  {
    alert: "ServerlessGpuWorkersMaxReached",
    severity: "warning",
    causes: ["workers-busy"],
    when: (s, settings) =>
      isQueue(settings)
        ? {
            // Completed jobs show that the workers are working.
            expr: `${s.queued} > 0 and ${s.workers("running")} >= ${settings.workersMax} and ${s.added("completed", "10m")} > 0`,
            forS: 10 * MINUTE_S,
          }
        : undefined,
  },
  {
    alert: "ServerlessGpuQueueNotServed",
    severity: "critical",
    causes: ["no-stock", "worker-quota", "spend-limit", "volume-place", "cuda-version"],
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
    severity: "critical",
    causes: ["handler-takes-no-jobs"],
    command: "logs",
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
    severity: "warning",
    causes: ["throttled"],
    when: (s, settings) =>
      isQueue(settings)
        ? { expr: `${s.queued} > 0 and ${s.workers("throttled")} > 0 and ${waitOf(s)} > ${WAIT_S}`, forS: 5 * MINUTE_S }
        : undefined,
  },
  {
    alert: "ServerlessGpuWorkersUnhealthy",
    severity: "critical",
    causes: ["crash-loop", "image-pull"],
    command: "logs",
    when: (s) => ({ expr: `${s.workers("unhealthy")} > 0`, forS: 2 * MINUTE_S }),
  },
  {
    alert: "ServerlessGpuSlowStart",
    severity: "warning",
    causes: ["image-pulling"],
    command: "logs",
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
    severity: "critical",
    causes: ["jobs-failing"],
    command: "logs",
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
    severity: "warning",
    causes: [],
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
    severity: "warning",
    causes: [],
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
  // Prometheus shows a value for five minutes after its last sample, and an old value proves
  // nothing.
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
  const words = kind.words ?? causes.map((cause) => WORDS[cause]).join(", or ");
  const advice = kind.advice ?? (first ? adviceOn(first, id) : "");
  return {
    alert,
    expr,
    forS,
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
    workers_min: workersMin,
    workers_max: workersMax,
    scaler_value: scalerValue,
    // REST v2 does not store idleTimeout for REQUEST_COUNT, which does not use it.
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
    "Check that npx pulumi-serverless-gpu metrics runs, its key, and that the endpoint exists. After a replacement, write the rules again";
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
    alert,
    ...condition,
    labels: { severity },
    annotations: { summary, description, command: "npx pulumi-serverless-gpu doctor" },
  });
  return [
    account(
      ...(["ServerlessGpuSpend", "warning"] as const),
      { expr: `(${spend}${spendCap === undefined ? "" : ` or ${estimate}`}) > ${cap}`, forS: 5 * MINUTE_S },
      spendCap === undefined
        ? "What runs costs more than 80 % of the account's spend limit"
        : `What runs costs more than ${spendCap} US dollars an hour`,
      adviceOn("spend-limit", ""),
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
      "Check the disk and the folder, and start npx pulumi-serverless-gpu metrics again",
    ),
  ];
}

/**
 * Escapes template syntax. Endpoint names are free text, and Prometheus would execute a template in
 * them.
 */
function plain(text: string): string {
  return text.replaceAll("{{", "{ {");
}
