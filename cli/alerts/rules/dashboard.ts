/** A dashboard panel. */
interface Panel {
  readonly title: string;
  /** A `stat` shows the last value, a `timeseries` a graph. */
  readonly type: "stat" | "timeseries";
  /** Grafana's name of the unit. @default a number */
  readonly unit?: string;
  /** The queries, by legend. */
  readonly queries: Readonly<Record<string, string>>;
}

/**
 * The selected endpoints, each once, although two exporters may have read different names. Only
 * this metric has names.
 */
const SELECTED = 'topk by (endpoint_id) (1, serverless_gpu_endpoint_info{name=~"$endpoint",stack=~"$stack"})';

/** Returns a query for a metric of the selected endpoints, with their names. */
const named = (series: string, labels = "endpoint_id") =>
  `max by (${labels}) (${series}) * on (endpoint_id) group_left (name) ${SELECTED}`;
const metric = (selector: string, labels?: string) => named(`serverless_gpu_endpoint_${selector}`, labels);
const perMinute = (counter: string) => named(`rate(serverless_gpu_endpoint_jobs_${counter}_total[5m]) * 60`);
const dollars = named("sum without (price) (serverless_gpu_endpoint_dollars_per_hour)");

const stat = (title: string, query: string, unit?: string): Panel => ({
  title,
  type: "stat",
  ...(unit && { unit }),
  queries: { [title]: `sum(${query})` },
});
const graph = (title: string, queries: Panel["queries"], unit?: string): Panel => ({
  title,
  type: "timeseries",
  ...(unit && { unit }),
  queries,
});

const PANELS: readonly Panel[] = [
  stat("Jobs waiting", metric('jobs{state="queued"}')),
  stat("Jobs running", metric('jobs{state="in_progress"}')),
  stat("Jobs failed in the last hour", named("increase(serverless_gpu_endpoint_jobs_failed_total[1h])")),
  stat("US dollars an hour (estimate)", dollars, "currencyUSD"),
  graph("Jobs", { "{{name}} {{state}}": metric("jobs", "endpoint_id, state") }),
  graph("Jobs that ended, a minute", {
    "{{name}} completed": perMinute("completed"),
    "{{name}} failed": perMinute("failed"),
  }),
  graph("Workers", { "{{name}} {{state}}": metric("workers", "endpoint_id, state") }),
  graph("Workers of an older release", { "{{name}}": metric("stale_workers") }),
  graph(
    "US dollars an hour",
    {
      "{{name}} (estimate)": dollars,
      "account of {{instance}}": "serverless_gpu_account_dollars_per_hour",
      "limit of {{instance}}": "serverless_gpu_account_limit_dollars_per_hour",
    },
    "currencyUSD",
  ),
  graph("Stock, from 0 (none) to 3 (high)", { "{{gpu}}": "max by (gpu) (serverless_gpu_gpu_stock)" }),
  graph(
    "Age of the reads",
    {
      "{{name}}": metric('read_age_seconds{read="queue"}'),
      "{{instance}} {{read}}": "serverless_gpu_read_age_seconds",
    },
    "s",
  ),
  graph("Alerts", { "{{alertname}} {{endpoint_id}}": 'ALERTS{alertname=~"ServerlessGpu.*",alertstate="firing"}' }),
];

const SIZES = { stat: { w: 6, h: 4 }, timeseries: { w: 12, h: 8 } };
/** The width of a dashboard, in Grafana's units. */
const WIDTH = 24;

/** Returns where each panel is: from left to right, in rows. */
function places(): { readonly x: number; readonly y: number; readonly w: number; readonly h: number }[] {
  let [x, y] = [0, 0];
  return PANELS.map(({ type }) => {
    const { w, h } = SIZES[type];
    const place = { x, y, w, h };
    x = (x + w) % WIDTH;
    if (x === 0) y += h;
    return place;
  });
}

/** Returns a Grafana dashboard for all endpoints. */
export function dashboardOf(): object {
  const datasource = { type: "prometheus", uid: "$datasource" };
  const variable = (name: string, label: string, values: string) => ({
    name,
    label,
    type: "query",
    datasource,
    multi: true,
    includeAll: true,
    refresh: 2,
    allValue: ".*",
    query: values,
    current: { text: "All", value: "$__all" },
  });
  const placed = places();
  return {
    title: "Serverless GPU endpoints",
    uid: "serverless-gpu",
    schemaVersion: 39,
    tags: ["serverless-gpu"],
    refresh: "1m",
    time: { from: "now-6h", to: "now" },
    templating: {
      list: [
        { name: "datasource", label: "Data source", type: "datasource", query: "prometheus" },
        variable("stack", "Stack", "label_values(serverless_gpu_endpoint_info, stack)"),
        variable("endpoint", "Endpoint", 'label_values(serverless_gpu_endpoint_info{stack=~"$stack"}, name)'),
      ],
    },
    panels: PANELS.map(({ title, type, unit = "short", queries }, index) => ({
      id: index + 1,
      type,
      title,
      datasource,
      gridPos: placed[index],
      fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
      targets: Object.entries(queries).map(([legendFormat, expr], at) => ({
        refId: String.fromCharCode(65 + at),
        datasource,
        expr,
        legendFormat,
      })),
    })),
  };
}
