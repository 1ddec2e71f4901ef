/** A dashboard panel: title, Grafana unit, and queries by legend. */
interface Panel {
  readonly title: string;
  readonly unit?: string;
  readonly queries: Readonly<Record<string, string>>;
}

const OWN = '{endpoint=~"$endpoint",stack=~"$stack"}';
const metric = (name: string, labels = OWN) => `serverless_gpu_${name}${labels}`;
const byEndpoint = (expr: string) => `sum by (endpoint) (${expr})`;

const PANELS: readonly Panel[] = [
  { title: "Jobs", queries: { "{{endpoint}} {{state}}": `sum by (endpoint, state) (${metric("endpoint_jobs")})` } },
  {
    title: "Jobs that ended, a minute",
    queries: {
      "{{endpoint}} completed": byEndpoint(`rate(${metric("endpoint_jobs_completed_total")}[5m]) * 60`),
      "{{endpoint}} failed": byEndpoint(`rate(${metric("endpoint_jobs_failed_total")}[5m]) * 60`),
    },
  },
  {
    title: "Workers",
    queries: { "{{endpoint}} {{state}}": `sum by (endpoint, state) (${metric("endpoint_workers")})` },
  },
  {
    title: "Workers of an older release",
    queries: { "{{endpoint}}": byEndpoint(metric("endpoint_stale_workers")) },
  },
  {
    title: "US dollars an hour",
    unit: "currencyUSD",
    queries: {
      "{{endpoint}} (estimate)": byEndpoint(metric("endpoint_dollars_per_hour")),
      account: metric("account_dollars_per_hour", ""),
      limit: metric("account_limit_dollars_per_hour", ""),
    },
  },
  { title: "Stock, from 0 (none) to 3 (high)", queries: { "{{gpu}}": metric("gpu_stock", "") } },
  {
    title: "Age of the reads",
    unit: "s",
    queries: {
      "{{endpoint}}": `max by (endpoint) (${metric("endpoint_read_age_seconds")})`,
      "{{read}}": metric("read_age_seconds", ""),
    },
  },
  {
    title: "Alerts",
    queries: { "{{alertname}} {{endpoint}}": 'ALERTS{alertname=~"ServerlessGpu.*",alertstate="firing"}' },
  },
];

const [WIDTH, HEIGHT] = [12, 8];

/** Returns a Grafana dashboard for all endpoints. */
export function dashboardOf(): object {
  const datasource = { type: "prometheus", uid: "$datasource" };
  const variable = (name: string, label: string) => ({
    name,
    label,
    type: "query",
    datasource,
    multi: true,
    includeAll: true,
    refresh: 2,
    allValue: ".*",
    query: `label_values(serverless_gpu_endpoint_read_age_seconds, ${name})`,
    current: { text: "All", value: "$__all" },
  });
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
        variable("stack", "Stack"),
        variable("endpoint", "Endpoint"),
      ],
    },
    panels: PANELS.map(({ title, unit = "short", queries }, index) => ({
      id: index + 1,
      type: "timeseries",
      title,
      datasource,
      gridPos: { x: (index % 2) * WIDTH, y: Math.floor(index / 2) * HEIGHT, w: WIDTH, h: HEIGHT },
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
