import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { startEmulator } from "../../../emulator";
import { noPrometheus } from "../../support/prometheus";
import { parseYaml } from "../../support/yaml";
import { ended, firstOutput, run, start } from "../command";

const before = { ...process.env };
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "alerts-command-"));
});
afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
  rmSync(folder, { recursive: true, force: true });
});

interface Rules {
  readonly groups: {
    readonly rules: {
      readonly alert: string;
      readonly expr: string;
      readonly labels: Record<string, string>;
      readonly annotations: Record<string, string>;
    }[];
  }[];
}

/** Puts a `pulumi` on PATH that prints a state with one endpoint. */
function withState(endpoint: object): void {
  const type = "pulumi-nodejs:dynamic/serverless-gpu:ServerlessEndpoint";
  const resources = [{ urn: `urn:pulumi:dev::p::${type}::llama`, type, ...endpoint }];
  writeFileSync(path.join(folder, "state.json"), JSON.stringify({ deployment: { resources } }));
  writeFileSync(path.join(folder, "pulumi"), `#!/bin/sh\nexec cat ${path.join(folder, "state.json")}\n`, {
    mode: 0o755,
  });
  process.env.PATH = `${folder}:${process.env.PATH}`;
}

test("alerts writes rules with the given thresholds, without a project or a stack", async () => {
  process.env.PATH = folder;
  const { code, stdout } = await run("alerts", "--spend-cap", "20", "--failure-share", "0.25", "--stale", "15");
  expect(code).toBe(0);
  const [{ groups }] = parseYaml(stdout) as [Rules];
  const rules = groups.flatMap((group) => group.rules);
  const ruleOf = (alert: string) => rules.find((rule) => rule.alert === `ServerlessGpu${alert}`);
  expect(ruleOf("JobsFail")?.expr).toContain(">= 0.25");
  expect(ruleOf("JobsFail")?.annotations.summary).toContain("at least 25 % of the jobs");
  expect(ruleOf("Spend")?.expr).toContain("> 20");
  expect(ruleOf("NoRead")?.expr).toContain("> 900");
  for (const { labels, annotations, expr } of rules) {
    expect(Object.keys(labels)).toEqual(["severity"]);
    expect(Object.keys(annotations)).toEqual(["summary", "description", "command"]);
    expect(annotations.command).toMatch(/^(npx pulumi-serverless-gpu|pulumi preview|df) /);
    // A name is looked up when an alert fires. It is never part of a condition.
    expect(expr).not.toMatch(/group_left|(?<!alert)name=/);
  }
});

test("alerts writes files with --out and --dashboard", async () => {
  const files = ["rules.yml", "dashboard.json"].map((name) => path.join(folder, name));
  const [rules = "", dashboard = ""] = files;
  expect((await run("alerts", "--out", rules, "--dashboard", dashboard)).code).toBe(0);
  const { panels } = JSON.parse(readFileSync(dashboard, "utf8")) as { panels: { type: string }[] };
  expect(panels.filter(({ type }) => type === "stat")).toHaveLength(4);
  expect(readFileSync(rules, "utf8")).toContain("ServerlessGpuDrift");
  const refused = await run("alerts", "--out", path.join(folder, "none", "rules.yml"));
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("cannot be written")]);
});

test("alerts refuses invalid usage", async () => {
  for (const args of [["--failure-share", "7"], ["--stale", "2"], ["test"]])
    expect([args, (await run("alerts", ...args)).code]).toEqual([args, 2]);
});

const testWith = noPrometheus ? test.skip : test;
const why = noPrometheus ? ` (${noPrometheus})` : "";

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

testWith(
  `the real Prometheus scrapes the exporter, fires an alert with the endpoint's name, and answers the dashboard${why}`,
  async () => {
    await using emulator = await startEmulator({ profile: "observed" });
    Object.assign(process.env, emulator.env);
    const name = 'llama {{ printf "x" }}';
    emulator.seed({ endpoints: [{ id: "llama1234567", name, templateId: "t", gpuIds: "ADA_24", workersMax: 0 }] });
    const headers = { authorization: `Bearer ${emulator.apiKey}`, "content-type": "application/json" };
    await fetch(`${emulator.url}/v2/llama1234567/run`, { method: "POST", headers, body: '{"input":{"a":1}}' });
    const [rules, dashboard] = ["rules.yml", "dashboard.json"].map((file) => path.join(folder, file)) as [
      string,
      string,
    ];
    expect((await run("alerts", "--out", rules, "--dashboard", dashboard)).code).toBe(0);
    // A real minute would be too long for a test.
    writeFileSync(rules, readFileSync(rules, "utf8").replace(/for: "\d+s"/g, 'for: "1s"'));
    const schedule = { timeZone: "UTC", rules: [{ cron: "0 0 1 1 *", workersMin: 0, workersMax: 0 }] };
    withState({ id: "llama1234567", inputs: { schedule }, outputs: { workersMax: 0 } });
    const exporter = start("metrics", "--listen", "0", "--stack");
    const exported = ended(exporter);
    const target = new URL((await firstOutput(exporter)).trim()).host;
    const port = await freePort();
    writeFileSync(
      path.join(folder, "prometheus.yml"),
      `global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [rules.yml]\nscrape_configs: [{job_name: gpu, static_configs: [{targets: ["${target}"]}]}]\n`,
    );
    const args = [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    const prometheus: ChildProcess = spawn("prometheus", args, { stdio: "ignore" });
    const gone = new Promise((resolve) => prometheus.once("exit", resolve));
    try {
      const api = `http://127.0.0.1:${port}/api/v1`;
      const { annotations, labels } = await firing(api, "ServerlessGpuNoWorkersAllowed");
      expect(labels).toEqual({
        alertname: "ServerlessGpuNoWorkersAllowed",
        endpoint_id: "llama1234567",
        severity: "critical",
      });
      expect(annotations.summary).toBe(`${name}: no worker can start, because its workersMax is 0`);
      const held = "A schedule sets its worker counts: 0 0 1 1 * (UTC): workersMin 0, workersMax 0";
      expect(annotations.description).toContain(`. ${held}`);
      expect(annotations.command).toBe("npx pulumi-serverless-gpu explain llama1234567");
      const { panels } = JSON.parse(readFileSync(dashboard, "utf8")) as {
        panels: { type: string; title: string; targets: { expr: string }[] }[];
      };
      for (const { type, title, targets } of panels) {
        for (const { expr } of targets) {
          const query = expr.replaceAll("$endpoint", ".*").replaceAll("$stack", ".*");
          const response = await fetch(`${api}/query?query=${encodeURIComponent(query)}`);
          const { status, data } = (await response.json()) as {
            status: string;
            data: { result: { metric: object }[] };
          };
          expect([title, status]).toEqual([title, "success"]);
          if (type === "stat") expect([title, data.result.length]).toEqual([title, 1]);
          if (title === "Jobs") expect(data.result[0]?.metric).toMatchObject({ name, endpoint_id: "llama1234567" });
        }
      }
    } finally {
      prometheus.kill("SIGKILL");
      exporter.kill("SIGTERM");
      await Promise.all([gone, exported]);
    }
  },
);

interface FiringAlert {
  readonly state: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Resolves to an alert, once it fires alone. At the start, nothing was read. */
async function firing(api: string, wanted: string): Promise<FiringAlert> {
  for (let attempt = 0; attempt < 600; attempt++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const response = await fetch(`${api}/alerts`).catch(() => undefined);
    if (!response?.ok) continue;
    const { data } = (await response.json()) as { data: { alerts: FiringAlert[] } };
    const [first, ...others] = data.alerts.filter(({ state }) => state === "firing");
    if (first?.labels.alertname === wanted && others.length === 0) return first;
  }
  throw new Error(`${wanted} does not fire alone`);
}
