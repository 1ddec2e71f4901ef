import { execFile } from "node:child_process";
import path from "node:path";
import type { ManagementApi } from "../../sdk";
import { redact } from "../../sdk/errors/secretText";
import { printLines, say } from "../terminal";
import { type AlertsFlags, ruleOptions, writeOut } from "./alerts";
import { type PlayedScenario, playScenario } from "./play/playScenario";
import { clean, scenariosOf } from "./play/scenarios";
import { testFile } from "./play/testFile";
import { allRules, rulesFile } from "./rules/rulesFile";
import { type AlertSettings, stackSettings } from "./stackSettings";

export interface AlertsTestFlags extends AlertsFlags {
  readonly api?: ManagementApi;
  readonly week?: boolean;
}

const DAY_S = 86_400;
const NO_PROMTOOL =
  "there is no promtool on PATH. It comes with Prometheus: apt-get install prometheus, brew install prometheus, or " +
  "https://prometheus.io/download/";

/** Simulates faults and checks with promtool that the right alerts fire. Returns the exit code. */
export async function alertsTest(flags: AlertsTestFlags): Promise<number> {
  const version = await promtool(["--version"]);
  if (version.isMissing) throw new Error(NO_PROMTOOL);
  const endpoints = await stackSettings(flags.stack);
  const options = ruleOptions(flags);
  const file = flags.out ?? "rules.yml";
  const tests = path.join(path.dirname(file), `${path.basename(file, path.extname(file))}.test.yml`);
  const plays = await playAll(endpoints, flags);
  writeOut(file, rulesFile(endpoints, options));
  writeOut(tests, testFile(path.basename(file), allRules(endpoints, options), plays));
  const checked = await promtool(["check", "rules", file]);
  const tested = checked.isSuccess ? await promtool(["test", "rules", tests]) : checked;
  printLines(redact(tested.output).trim().split("\n"));
  const count = `${plays.length} simulations of ${endpoints.length} endpoint${endpoints.length === 1 ? "" : "s"}`;
  printLines([
    tested.isSuccess
      ? `${count}: the expected alerts fired, and no others`
      : checked.isSuccess
        ? `${count}: the alerts that fired are not the expected ones`
        : `the rules in ${file} are not valid, so they were not tested`,
  ]);
  return tested.isSuccess ? 0 : 1;
}

/** Runs every scenario against each distinct kind of endpoint in the stack. */
async function playAll(endpoints: readonly AlertSettings[], { api = "graphql", week }: AlertsTestFlags) {
  const plays: PlayedScenario[] = [];
  for (const played of distinct(endpoints)) {
    const others = endpoints.filter((each) => each !== played);
    const scenarios = [...scenariosOf(played), clean((week ? 7 : 1) * DAY_S)];
    for (const scenario of scenarios) {
      say(`serverless-gpu alerts: ${played.name}: ${scenario.name}`);
      plays.push(await playScenario(api, [played, ...others], scenario));
    }
  }
  return plays;
}

/**
 * Returns one endpoint for each distinct combination of settings. Endpoints without a queue are
 * skipped.
 */
function distinct(endpoints: readonly AlertSettings[]): AlertSettings[] {
  const seen = new Map<string, AlertSettings>();
  for (const each of endpoints) {
    const { id: _, name: __, ...settings } = each;
    const key = JSON.stringify(settings);
    if (each.type !== "LOAD_BALANCER" && each.workersMax > 0 && !seen.has(key)) seen.set(key, each);
  }
  return [...seen.values()];
}

interface Ended {
  readonly isMissing: boolean;
  readonly isSuccess: boolean;
  readonly output: string;
}

const MOST_OUTPUT = 100_000_000;

function promtool(args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile("promtool", [...args], { maxBuffer: MOST_OUTPUT }, (error, stdout, stderr) =>
      resolve({ isMissing: error?.code === "ENOENT", isSuccess: !error, output: stdout + stderr }),
    );
  });
}
