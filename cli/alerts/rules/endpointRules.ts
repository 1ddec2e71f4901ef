import { adviceOn, type CauseId, WORDS } from "../../../sdk/diagnosis/causes";
import { COMPARED } from "../../metrics/wanted";
import type { Rule, RuleOptions } from "./rule";
import {
  added,
  byEndpoint,
  COUNTS_REQUESTS,
  ended,
  fresh,
  IN_PROGRESS,
  metric,
  QUEUED,
  RUNNING,
  WAIT,
  WORKERS_MAX,
  workers,
} from "./series";

const MINUTE_S = 60;
const ID = "{{ $labels.endpoint_id }}";
/**
 * The endpoint's name, or its id if the name is unknown. It is looked up when the alert fires,
 * because with a label for the name, each rename would create a new alert.
 */
const NAME = `{{ with query (printf "serverless_gpu_endpoint_info{endpoint_id=%q}" $labels.endpoint_id) }}{{ . | first | label "name" }}{{ else }}${ID}{{ end }}`;

/** The rule of the endpoint's schedule that holds, if there is one. */
const SCHEDULED = `{{ with query (printf "serverless_gpu_endpoint_schedule_info{endpoint_id=%q}" $labels.endpoint_id) }}. A schedule sets its worker counts: {{ . | first | label "rule" }}{{ end }}`;

const EXPLAIN = `npx pulumi-serverless-gpu explain ${ID}`;
const EXPLAIN_LOGS = `${EXPLAIN} --logs --api v2`;
const LOGS = `npx pulumi-serverless-gpu logs ${ID} --api v2`;
const PREVIEW = "pulumi preview --refresh --diff";

/** An alert about an endpoint. */
interface EndpointAlert extends Pick<Rule, "alert" | "severity" | "expr" | "forS" | "command"> {
  /** The causes of this symptom, most likely first, from which the text follows. */
  readonly causes?: readonly [CauseId, ...CauseId[]];
  /** The text, if it does not follow from causes. */
  readonly words?: string;
  readonly advice?: string;
}

/** Returns the rules about endpoints. */
export function endpointRules({ failureShare }: RuleOptions): Rule[] {
  return [...queueAlerts(), ...workerAlerts(), jobsFail(failureShare), ...withoutJobs(), ...stateAlerts()].map(rule);
}

function rule({ causes = ["unknown"], words, advice, ...own }: EndpointAlert): Rule {
  const text = words ?? causes.map((cause) => WORDS[cause]).join(", or ");
  return { ...own, summary: `${NAME}: ${text}`, description: `${advice ?? adviceOn(causes[0], ID)}${SCHEDULED}` };
}

/** The alerts that say why no job ends. */
const NAMED = "QueueNotServed|NoWorkersAllowed|WorkersTakeNoJobs|Throttled|WorkersUnhealthy|SlowStart";

/** Jobs wait. */
function queueAlerts(): EndpointAlert[] {
  const stuck = workers("idle", "initializing", "throttled", "unhealthy");
  const wantsByCount = `ceil((${QUEUED} + ${IN_PROGRESS}) / clamp_min(${metric("scaler_value")}, 1)) > ${RUNNING} and ${COUNTS_REQUESTS}`;
  const wantsByDelay = `${WAIT} > ${metric("scaler_value")} unless ${COUNTS_REQUESTS}`;
  const during = (window: string, series: string) =>
    byEndpoint(fresh(`min_over_time(serverless_gpu_endpoint_${series}[${window}])`));
  const isBusy = `${QUEUED} > 0 and ${RUNNING} >= ${WORKERS_MAX} and ${WORKERS_MAX} > 0`;
  // Jobs that take up to half an hour rarely finish, and only a finished job shows progress.
  const isLongBusy = `${during("25m", 'jobs{state="queued"}')} > 0 and ${during("25m", 'workers{state="running"}')} >= ${WORKERS_MAX}`;
  const hasOtherFault = `(${workers("unhealthy")} > 0 or (${isFailing(0.5)}))`;
  return [
    {
      alert: "WorkersMaxReached",
      severity: "warning",
      causes: ["workers-busy"],
      expr:
        `${isBusy} and (${added("jobs_completed_total", "10m")} > 0 or ` +
        `(${isLongBusy} and ${added("jobs_completed_total", "30m")} > 0)) unless ${hasOtherFault}`,
      forS: 10 * MINUTE_S,
      command: EXPLAIN,
    },
    {
      alert: "NoJobEnds",
      severity: "critical",
      words: "jobs wait, but none has ended for 30 minutes",
      advice:
        "If your jobs take that long, raise workersMax. If not, the workers hang, or start again and again: read their log, and set executionTimeoutMs, which ends jobs that hang",
      // Workers that start again and again show one state after another, so that no alert about a
      // state lasts. Nobody knows whether a job ended before the first read.
      expr:
        `${QUEUED} > 0 and ${ended("15m")} == 0 and ${byEndpoint("serverless_gpu_endpoint_jobs_completed_total offset 15m")} ` +
        `unless on (endpoint_id) ALERTS{alertname=~"ServerlessGpu(${NAMED})",alertstate="firing"}`,
      forS: 15 * MINUTE_S,
      command: LOGS,
    },
    {
      alert: "QueueNotServed",
      severity: "critical",
      causes: ["no-stock", "worker-quota", "spend-limit", "volume-place", "cuda-version"],
      expr:
        `${QUEUED} > 0 and ${RUNNING} < ${WORKERS_MAX} and ${stuck} == 0 and ${WAIT} > 300 ` +
        `and (${wantsByCount} or (${wantsByDelay}))`,
      forS: 5 * MINUTE_S,
      command: EXPLAIN,
    },
    {
      alert: "NoWorkersAllowed",
      severity: "critical",
      causes: ["no-workers-allowed"],
      expr: `${QUEUED} > 0 and ${WORKERS_MAX} == 0`,
      forS: 5 * MINUTE_S,
      command: EXPLAIN,
    },
  ];
}

/** Returns the mean number of workers in a state in ten minutes. */
const mostly = (state: string) =>
  byEndpoint(fresh(`avg_over_time(serverless_gpu_endpoint_workers{state="${state}"}[10m])`));

/** Returns the alerts about workers that do not work. */
function workerAlerts(): EndpointAlert[] {
  return [
    {
      alert: "WorkersTakeNoJobs",
      severity: "critical",
      causes: ["handler-takes-no-jobs", "one-worker-takes-all"],
      expr: `${QUEUED} > 0 and ${workers("idle")} > 0 and ${WAIT} > 300`,
      forS: 5 * MINUTE_S,
      command: EXPLAIN_LOGS,
    },
    {
      alert: "Throttled",
      severity: "warning",
      causes: ["throttled"],
      // From time to time, the workers move to other hosts, where their starts also fail.
      expr: `${QUEUED} > 0 and ${mostly("throttled")} > 0.4 and ${WAIT} > 300`,
      forS: 5 * MINUTE_S,
      command: EXPLAIN,
    },
    {
      alert: "WorkersUnhealthy",
      severity: "critical",
      causes: ["crash-loop", "image-pull"],
      expr: `${workers("unhealthy")} > 0`,
      forS: 2 * MINUTE_S,
      command: EXPLAIN_LOGS,
    },
    {
      alert: "SlowStart",
      severity: "warning",
      causes: ["image-pulling"],
      expr:
        `${QUEUED} > 0 and ${workers("initializing")} > 0 and ${workers("idle")} == 0 and ${WAIT} > 300 ` +
        `unless ${workers("unhealthy", "throttled")} > 0`,
      forS: 10 * MINUTE_S,
      command: EXPLAIN_LOGS,
    },
  ];
}

/** Matches the endpoints with at least this share of failed jobs. */
function isFailing(share: number): string {
  const failed = added("jobs_failed_total", "15m");
  // Rounded, because a tenth of ten jobs can be a little less than 0.1.
  return `${failed} > 0 and round(${failed} / ${ended("15m")}, 0.0001) >= ${share}`;
}

function jobsFail(share: number): EndpointAlert {
  return {
    alert: "JobsFail",
    severity: "critical",
    words: `at least ${Number((share * 100).toPrecision(12))} % of the jobs that ended in the last 15 minutes failed`,
    advice: "Read the errors of the failed jobs, and the log",
    expr: isFailing(share),
    forS: MINUTE_S,
    command: LOGS,
  };
}

/** Returns the alerts about workers that are billed although there is little to do. */
function withoutJobs(): EndpointAlert[] {
  const ready = workers("running", "idle");
  const workersMin = metric("workers_min");
  const idle = metric("idle_seconds");
  const busy = (states: string) =>
    byEndpoint(
      `sum without (gpu, state) ${fresh(`increase(serverless_gpu_endpoint_worker_seconds_total{state=~"${states}"}[6h])`)}`,
    );
  return [
    {
      alert: "NotScaledDown",
      severity: "warning",
      words: "more workers than workersMin run, and there are no jobs",
      advice:
        "Look at workersStandby and idleTimeout of the endpoint at the service. You may still be charged for the workers",
      // A schedule may just have lowered workersMin.
      expr: `${ready} > ${byEndpoint(fresh("max_over_time(serverless_gpu_endpoint_workers_min[10m])"))} and ${idle} > 600 + (${metric("idle_timeout_seconds")} or ${idle} * 0)`,
      forS: 5 * MINUTE_S,
      command: PREVIEW,
    },
    {
      alert: "BilledWithoutJobs",
      severity: "warning",
      words: "in the last six hours, its workers ran fewer than 12 jobs, and were busy for less than 2 % of the time",
      advice:
        "Lower workersMin if jobs may wait for a start. With a recording (metrics --record), forecast shows how long they would wait",
      expr:
        `${busy("running")} < 0.02 * ${busy("running|idle")} and ${workersMin} > 0 and ${ready} <= ${workersMin} ` +
        // Short jobs can all fall between two reads.
        `and ${ended("6h")} < 12 ` +
        // Without these, the alert would fire for load balancers, and before six hours of data
        // exist.
        `and ${byEndpoint("serverless_gpu_endpoint_worker_seconds_total offset 6h")} and ${idle} and ${QUEUED} == 0`,
      forS: 5 * MINUTE_S,
      command: `npx pulumi-serverless-gpu forecast --load ./recording --endpoint ${ID} --duration 20s --sweep workersMin=0..1`,
    },
  ];
}

/** Returns the alerts about differences from the stack's state, which needs --stack. */
function stateAlerts(): EndpointAlert[] {
  // The values are compared within one exporter, because two exporters may have read different
  // states. In the ten minutes until the alert fires, the state is read again, because a run may
  // have changed both.
  const differs = Object.values(COMPARED).map(
    (name) => `serverless_gpu_endpoint_${name} != serverless_gpu_endpoint_wanted_${name}`,
  );
  return [
    {
      alert: "Drift",
      severity: "warning",
      words: "workersMin, workersMax, scalerValue or idleTimeout differ from the state",
      advice:
        "Someone or the service has changed them. pulumi preview --refresh shows what differs, pulumi up restores it",
      expr: byEndpoint(
        `(${fresh(`(${differs.join(" or ")})`, "settings", 300)} and on (job, instance) serverless_gpu_read_age_seconds{read="state"} < 600)`,
        "group",
      ),
      forS: 10 * MINUTE_S,
      command: PREVIEW,
    },
    {
      alert: "EndpointGone",
      severity: "critical",
      causes: ["not-found"],
      expr: `${byEndpoint("serverless_gpu_endpoint_gone")} == 1`,
      forS: MINUTE_S,
      command: PREVIEW,
    },
  ];
}
