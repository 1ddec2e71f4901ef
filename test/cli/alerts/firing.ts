import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { stringify } from "yaml";
import { rulesFile } from "../../../cli/alerts/rules/rules";
import { promtoolFindings } from "../../support/prometheus";
import { type PlayedFleet, SCRAPE_S } from "./playFleet";

export const RULES = rulesFile({ failureShare: 0.1, staleMinutes: 10 });

/** Calls a function with a folder that contains the rules. */
export function withRules<T>(use: (folder: string) => T): T {
  const folder = mkdtempSync(path.join(tmpdir(), "rules-"));
  try {
    writeFileSync(path.join(folder, "rules.yml"), RULES);
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** An alert that fires at a minute. */
export interface Firing {
  readonly minute: number;
  /** The name, without its prefix. */
  readonly alert: string;
  /** The endpoint's id; empty for an alert about an account or an exporter. */
  readonly endpointId: string;
  readonly instance: string;
}

/** Returns the alerts that fire at each minute, as Prometheus's own rules engine computes them. */
export function firingIn({ series, scrapes }: Pick<PlayedFleet, "series" | "scrapes">): Firing[] {
  const looks = Array.from({ length: scrapes }, (_, at) => ({
    expr: 'ALERTS{alertstate="firing"}',
    eval_time: `${at * SCRAPE_S}s`,
    exp_samples: [],
  }));
  const test = {
    interval: `${SCRAPE_S}s`,
    input_series: [...series].map(([name, values]) => ({ series: name, values: runs(values, scrapes) })),
    promql_expr_test: looks,
  };
  return withRules((folder) => {
    const file = path.join(folder, "test.yml");
    writeFileSync(file, stringify({ rule_files: ["rules.yml"], evaluation_interval: `${SCRAPE_S}s`, tests: [test] }));
    return parse(promtoolFindings(["test", "rules", file]));
  });
}

function parse(text: string): Firing[] {
  if (!/SUCCESS|FAILED/.test(text) || /error|parse/i.test(text.slice(0, 200).replace("parse_error", "")))
    throw new Error(text.slice(0, 2000));
  return text.split(/expr: "ALERTS/).flatMap((part) => {
    const [, hours, minutes] = /time: (?:(\d+)h)?(?:(\d+)m)?/.exec(part) ?? [];
    const minute = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
    return [...part.matchAll(/\{__name__="ALERTS", ([^}]*)\}/g)].map(([, labels = ""]) => {
      const label = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(labels)?.[1] ?? "";
      const alert = label("alertname").replace("ServerlessGpu", "");
      return { minute, alert, endpointId: label("endpoint_id"), instance: label("instance") };
    });
  });
}

/** Abbreviates repeated values in promtool's notation, such as `3+0x10`. */
function runs(values: readonly (number | undefined)[], length: number): string {
  const words: string[] = [];
  for (let start = 0; start < length; ) {
    let end = start + 1;
    while (end < length && values[end] === values[start]) end += 1;
    const value = values[start];
    const count = end - start;
    words.push(value === undefined ? `_x${count}` : count === 1 ? `${value}` : `${value}+0x${count - 1}`);
    start = end;
  }
  return words.join(" ");
}
