import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type PlayedScenario, playScenario, SCRAPE_S, WARM_UP_S } from "../../../cli/alerts/play/playScenario";
import { clean, FAULT_ROWS, type FaultScenario, scenariosOf } from "../../../cli/alerts/play/scenarios";
import { inputSeries, testFile } from "../../../cli/alerts/play/testFile";
import { allRules, rulesFile } from "../../../cli/alerts/rules/rulesFile";
import { toYaml } from "../../../cli/alerts/rules/yaml";
import type { AlertSettings } from "../../../cli/alerts/stackSettings";
import { faultChoices } from "../../../emulator/server/faultRule";
import type { ManagementApi } from "../../../sdk";
import { noPrometheus, promtool, promtoolFindings } from "../../support/prometheus";

const ENDPOINT: AlertSettings = {
  id: "llama1234567",
  name: "llama",
  workersMin: 0,
  workersMax: 3,
  scalerType: "QUEUE_DELAY",
  scalerValue: 4,
  idleTimeout: 10,
  type: "QUEUE",
};
const OTHER: AlertSettings = { ...ENDPOINT, id: "other1234567", name: "other", workersMin: 1 };
const OPTIONS = { failureShare: 0.1, staleMinutes: 10 };
const rules = allRules([ENDPOINT, OTHER], OPTIONS);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "alerts-"));
  writeFileSync(path.join(folder, "rules.yml"), rulesFile([ENDPOINT, OTHER], OPTIONS));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the alerts that fire at each minute of a play, as promtool computes them. */
function firingIn({
  scenario,
  series,
  scrapes,
}: PlayedScenario): { readonly minute: number; readonly alert: string }[] {
  const looks = Array.from({ length: scrapes }, (_, at) => ({
    expr: 'ALERTS{alertstate="firing"}',
    eval_time: `${at * SCRAPE_S}s`,
    exp_samples: [],
  }));
  const test = {
    name: scenario.name,
    interval: `${SCRAPE_S}s`,
    input_series: inputSeries(series, scrapes),
    promql_expr_test: looks,
  };
  const file = path.join(folder, "probe.yml");
  writeFileSync(file, toYaml({ rule_files: ["rules.yml"], evaluation_interval: `${SCRAPE_S}s`, tests: [test] }));
  const text = promtoolFindings(["test", "rules", file]);
  return text.split(/expr: "ALERTS/).flatMap((part) => {
    const [, hours, minutes] = /time: (?:(\d+)h)?(?:(\d+)m)?/.exec(part) ?? [];
    const minute = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
    return [...part.matchAll(/alertname="(\w+)"/g)].map(([, alert = ""]) => ({ minute, alert }));
  });
}

const title = noPrometheus ? ` (${noPrometheus})` : "";
const describeWith = noPrometheus ? describe.skip : describe;
const table: string[] = [];
afterAll(() => {
  if (table.length > 0)
    process.stdout.write(`| what | API | intended | fires after | false | ends after |\n${table.join("\n")}\n`);
});

/** Judges a play, and adds its row to the table. */
async function judge(api: ManagementApi, scenario: FaultScenario, endpoints = [ENDPOINT, OTHER]) {
  const played = await playScenario(api, endpoints, scenario);
  const fired = firingIn(played);
  const beginMin = WARM_UP_S / 60;
  const endMin = beginMin + scenario.lastsS / 60 + (scenario.restarts ? 1 : 0);
  const intended = scenario.intended.map((alert) => {
    const minutes = fired.filter((each) => each.alert === alert).map(({ minute }) => minute);
    return { alert, first: Math.min(...minutes) - beginMin, last: Math.max(...minutes) - endMin };
  });
  const wrong = fired.filter(({ alert }) => !scenario.intended.includes(alert));
  const shown = (values: readonly number[]) => values.map((value) => `${value} min`).join(", ") || "–";
  const names = [...new Set(wrong.map(({ alert }) => alert))].join(", ");
  table.push(
    `| ${scenario.name} | ${api} | ${scenario.intended.join(", ") || "none"} | ${shown(intended.map(({ first }) => first))} | ` +
      `${names || 0} | ${shown(intended.map(({ last }) => last + 1))} |`,
  );
  expect(wrong).toEqual([]);
  for (const { alert, first, last } of intended) {
    expect([alert, first >= 0 && first <= scenario.withinS / 60]).toEqual([alert, true]);
    expect([alert, last < scenario.recoversS / 60]).toEqual([alert, true]);
  }
  return played;
}

test("the table contains a row for every kind of fault that the emulator supports", () => {
  expect(Object.keys(FAULT_ROWS).sort()).toEqual(
    faultChoices()
      .map(({ name }) => name)
      .sort(),
  );
});

describeWith(`the rules${title}`, () => {
  test("promtool accepts the rules", () => {
    expect(promtool(["check", "rules", path.join(folder, "rules.yml")])).toContain("SUCCESS");
  });

  test.each(scenariosOf(ENDPOINT).map((scenario) => [scenario.name, scenario] as const))(
    "only the intended alert fires in time, and it resolves: %s",
    async (_, scenario) => {
      const played = await judge("graphql", scenario);
      const file = path.join(folder, "rules.test.yml");
      writeFileSync(file, testFile("rules.yml", rules, [played]));
      expect(promtool(["test", "rules", file])).toContain("SUCCESS");
    },
    600_000,
  );

  test.each([
    "status",
    "hang",
    "crashLoop",
    "soldOut",
    "killWorker",
  ])("over REST v2, only the intended alert fires in time: %s", async (name) => {
    const [scenario] = scenariosOf(ENDPOINT, [name]);
    await judge("v2", scenario as FaultScenario);
  }, 600_000);

  test("the rules report workers that workersMin keeps running for six hours without jobs", async () => {
    const scenario = scenariosOf(OTHER, []).at(-1) as FaultScenario;
    await judge("graphql", { ...scenario, name: `${scenario.name} (workersMin 1)` }, [OTHER, ENDPOINT]);
  });

  test("no alert fires in a week without faults", async () => {
    await judge("graphql", clean(7 * 86_400));
  }, 1_800_000);
});
