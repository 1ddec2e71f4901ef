import { adviceOn } from "../../../sdk/diagnosis/causes";
import type { Rule, RuleOptions } from "./rule";
import { byEndpoint } from "./series";

const MINUTE_S = 60;
const DOCTOR = "npx pulumi-serverless-gpu doctor";
/** How long the balance must last, in hours. */
const BALANCE_H = 12;

/** The endpoints that cost most, of those that the same exporter reads. */
const COSTLIEST =
  '{{ range query (printf "topk(3, max by (endpoint_id) (serverless_gpu_endpoint_dollars_per_hour{job=%q,instance=%q}) > 0)" ' +
  "$labels.job $labels.instance) }} " +
  '{{ .Labels.endpoint_id }} costs about {{ .Value | printf "%.2f" }} dollars an hour.{{ end }}';

/**
 * Returns the rules about accounts and exporters. They compare values of one exporter, because
 * another may read another account.
 */
export function accountRules(options: RuleOptions): Rule[] {
  return [...readRules(options), ...moneyRules(options)];
}

function readRules({ staleMinutes }: RuleOptions): Rule[] {
  const staleS = staleMinutes * MINUTE_S;
  const age = byEndpoint('serverless_gpu_endpoint_read_age_seconds{read="queue"}', "min");
  const unread = `${age} > ${staleS} unless ${byEndpoint("serverless_gpu_endpoint_gone")} == 1`;
  const ages = "serverless_gpu_read_age_seconds";
  // A key without the permission never reads the account. The account is read every five minutes.
  const ofAccount = `(${ages}{read="account"} > ${staleS + 300} and serverless_gpu_read_timestamp_seconds)`;
  return [
    {
      alert: "ExporterDown",
      severity: "critical",
      // One alert for any number of endpoints. Without an exporter, no series names the endpoints.
      expr:
        "up == 0 and on (job, instance) last_over_time(serverless_gpu_exporter_info[7d]) " +
        "or on () absent(serverless_gpu_exporter_info)",
      forS: 5 * MINUTE_S,
      summary: "Prometheus cannot scrape the exporter{{ with $labels.instance }} {{ . }}{{ end }}",
      description: "Until it runs again, nothing else about its endpoints is reported. Read its output, and start it",
      command: "npx pulumi-serverless-gpu metrics",
    },
    {
      alert: "NoRead",
      severity: "critical",
      expr: `count(${unread}) > 0`,
      forS: 2 * MINUTE_S,
      summary: `Endpoints whose queue was not read for ${staleMinutes} minutes: {{ $value }}`,
      description:
        `Check the key, and that the service can be reached. The oldest:{{ range query \`topk(3, ${unread})\` }} ` +
        "{{ .Labels.endpoint_id }}{{ end }}",
      command: DOCTOR,
    },
    {
      alert: "NoAccountRead",
      severity: "critical",
      expr: `max without (read) (${ages}{read=~"endpoints|state"} > ${staleS} or ${ofAccount})`,
      forS: 2 * MINUTE_S,
      summary:
        "The exporter {{ $labels.instance }} has not read the list of endpoints, its stack's state or the account's limits for " +
        `${staleMinutes} minutes`,
      description: "Read its output. Check the key, and that the service can be reached",
      command: DOCTOR,
    },
    {
      alert: "RecordingStopped",
      severity: "warning",
      expr: "serverless_gpu_recording == 0",
      forS: 0,
      summary: "The exporter {{ $labels.instance }} no longer records metrics",
      description: "Check the disk and the folder of --record, and start npx pulumi-serverless-gpu metrics again",
      command: "df -h",
    },
  ];
}

function moneyRules({ spendCap }: RuleOptions): Rule[] {
  const spend = "serverless_gpu_account_dollars_per_hour";
  const estimate = "sum without (endpoint_id, price) (serverless_gpu_endpoint_dollars_per_hour)";
  return [
    {
      alert: "Spend",
      severity: "warning",
      expr:
        spendCap === undefined
          ? // A limit of 0 that lets something run is no limit.
            `${spend} > 0.8 * (serverless_gpu_account_limit_dollars_per_hour > 0)`
          : `(${spend} or ${estimate}) > ${spendCap}`,
      forS: 5 * MINUTE_S,
      summary:
        spendCap === undefined
          ? "What runs costs more than 80 % of the account's spend limit"
          : `What runs costs more than ${spendCap} US dollars an hour`,
      description: `${adviceOn("spend-limit", "")}.${COSTLIEST}`,
      command: "npx pulumi-serverless-gpu orphans",
    },
    {
      alert: "LowBalance",
      severity: "critical",
      expr: `serverless_gpu_account_balance_dollars < ${BALANCE_H} * ${spend} or serverless_gpu_account_balance_dollars <= 0`,
      forS: 5 * MINUTE_S,
      summary: `The account's balance of {{ $value | printf "%.2f" }} US dollars lasts for less than ${BALANCE_H} hours`,
      description: `${adviceOn("spend-limit", "")}.${COSTLIEST}`,
      command: "npx pulumi-serverless-gpu orphans",
    },
  ];
}
