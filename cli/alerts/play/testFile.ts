import type { Rule } from "../rules/rules";
import { toYaml } from "../rules/yaml";
import { type MetricSeries, type PlayedScenario, SCRAPE_S, WARM_UP_S } from "./playScenario";

/** How often the test checks the alerts, in seconds. */
const LOOK_S = 300;

/** Returns a file for `promtool test rules` with the recorded metrics and the expected alerts. */
export function testFile(rulesPath: string, rules: readonly Rule[], plays: readonly PlayedScenario[]): string {
  const tests = plays.map((played) => ({
    name: played.scenario.name,
    interval: `${SCRAPE_S}s`,
    input_series: inputSeries(played.series, played.scrapes),
    alert_rule_test: looks(rules, played),
  }));
  const head =
    "# Written by npx pulumi-serverless-gpu alerts test. Each test is a simulation with the emulator in virtual time.\n";
  return `${head}${toYaml({ rule_files: [rulesPath], evaluation_interval: `${SCRAPE_S}s`, tests })}`;
}

/** Converts series to promtool's notation. */
export function inputSeries(
  series: MetricSeries,
  scrapes: number,
): { readonly series: string; readonly values: string }[] {
  return [...series].map(([name, values]) => ({ series: name, values: runs(values, scrapes) }));
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

/** Returns the alerts that must fire at each check. */
function looks(rules: readonly Rule[], { scenario, scrapes }: PlayedScenario): object[] {
  const { intended, withinS, lastsS, recoversS, restarts } = scenario;
  const names = [...new Set(rules.map(({ alert }) => alert))];
  const beginS = WARM_UP_S;
  const endS = beginS + lastsS + (restarts ? SCRAPE_S : 0);
  const times = Array.from({ length: Math.floor(((scrapes - 1) * SCRAPE_S) / LOOK_S) }, (_, at) => (at + 1) * LOOK_S);
  return times.flatMap((time) =>
    names.flatMap((alertname): object[] => {
      const isIntended = intended.includes(alertname);
      const mustFire = isIntended && time >= beginS + withinS && time < endS;
      const mayFire = isIntended && time >= beginS && time < endS + recoversS;
      if (mayFire && !mustFire) return [];
      const expected = mustFire ? firing(rules, alertname, scenario.intended) : [];
      return [{ eval_time: `${time}s`, alertname, exp_alerts: expected }];
    }),
  );
}

/** Alerts that concern every endpoint, not only the one under test. */
const OF_ALL = ["ServerlessGpuNoRead"];

function firing(rules: readonly Rule[], alertname: string, intended: readonly string[]): object[] {
  const own = rules.filter(({ alert }) => alert === alertname);
  const shown = OF_ALL.includes(alertname) && intended.length > 1 ? own : own.slice(0, 1);
  return shown.map(({ labels, annotations }) => ({ exp_labels: { ...labels }, exp_annotations: { ...annotations } }));
}
