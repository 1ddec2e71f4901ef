import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { startEmulator } from "../../../emulator";
import { noPrometheus, promtool } from "../../support/prometheus";
import { parseYaml } from "../../support/yaml";
import { ended, firstOutput, run, start } from "../command";

const SECRET = "planted-secret-77aa";
const before = { ...process.env };
let folder: string;

const outputs = {
  name: 'llama {{ printf "x" }}',
  workersMin: 0,
  workersMax: 3,
  scalerType: "QUEUE_DELAY",
  scalerValue: 4,
  idleTimeout: 10,
  type: "QUEUE",
  env: { HF_TOKEN: SECRET },
  executionTimeoutMs: 600_000,
};
const endpoint = (id: string, more: object = {}) => ({
  urn: `urn:pulumi:dev::p::t::${id}`,
  type: "pulumi-nodejs:dynamic/serverless-gpu:ServerlessEndpoint",
  id,
  outputs: { ...outputs, ...more },
});

/** Puts a `pulumi` on PATH that prints a state. */
function withState(resources: readonly object[]): void {
  writeFileSync(path.join(folder, "state.json"), JSON.stringify({ deployment: { resources } }));
  writeFileSync(path.join(folder, "pulumi"), `#!/bin/sh\nexec cat ${path.join(folder, "state.json")}\n`);
  chmodSync(path.join(folder, "pulumi"), 0o755);
  process.env.PATH = `${folder}:${before.PATH}`;
}

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "alerts-command-"));
  withState([endpoint("llama1234567"), { urn: "u", type: "pulumi:pulumi:Stack" }]);
});
afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
  rmSync(folder, { recursive: true, force: true });
});

interface Rules {
  readonly groups: {
    readonly rules: { readonly alert: string; readonly expr: string; readonly annotations: Record<string, string> }[];
  }[];
}

test("alerts writes rules without secrets, with thresholds taken from the state", async () => {
  const { code, stdout } = await run("alerts", "--spend-cap", "20", "--failure-share", "0.25");
  expect(code).toBe(0);
  const [{ groups }] = parseYaml(stdout) as [Rules];
  const rules = groups.flatMap((group) => group.rules);
  const exprOf = (alert: string) => rules.find((rule) => rule.alert === alert)?.expr;
  expect(exprOf("ServerlessGpuWorkersMaxReached")).toContain(">= 3");
  expect(exprOf("ServerlessGpuJobsFail")).toContain("> 0.25");
  expect(exprOf("ServerlessGpuSpend")).toContain("> 20");
  expect(exprOf("ServerlessGpuBilledWithoutJobs")).toBeUndefined();
  for (const { annotations } of rules) {
    expect(annotations.command).toMatch(/^npx pulumi-serverless-gpu /);
    expect(JSON.stringify(annotations)).not.toContain("{{");
  }
  expect(stdout).not.toContain(SECRET);
});

test("alerts writes files with --out and --dashboard", async () => {
  const files = ["rules.yml", "dashboard.json"].map((name) => path.join(folder, name));
  const [rules = "", dashboard = ""] = files;
  expect((await run("alerts", "--out", rules, "--dashboard", dashboard)).code).toBe(0);
  const { panels } = JSON.parse(readFileSync(dashboard, "utf8"));
  expect(panels.length).toBeGreaterThan(5);
  expect(readFileSync(rules, "utf8")).toContain("ServerlessGpuDrift");
  const refused = await run("alerts", "--out", path.join(folder, "none", "rules.yml"));
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("cannot be written")]);
});

test("alerts writes no rules for endpoints that are marked for deletion or replacement in the state", async () => {
  withState([
    endpoint("llama1234567"),
    { ...endpoint("old123456789"), delete: true },
    { ...endpoint("gone12345678"), pendingReplacement: true },
  ]);
  const { stdout } = await run("alerts");
  expect([...new Set(stdout.match(/endpoint_id: "?\w+/g))]).toEqual([expect.stringContaining("llama1234567")]);
  expect(stdout).not.toMatch(/old123456789|gone12345678/);
  withState([{ ...endpoint("old123456789"), delete: true }]);
  expect((await run("alerts")).stderr).toContain("the stack's state has no ServerlessEndpoint");
});

test("alerts refuses a state without endpoints, a secret in a setting, and invalid usage", async () => {
  withState([]);
  expect((await run("alerts")).stderr).toContain("the stack's state has no ServerlessEndpoint");
  withState([endpoint("a", { workersMax: { ciphertext: "x" } })]);
  expect((await run("alerts")).stderr).toContain("workersMax of endpoint a is a secret in the state");
  expect((await run("alerts", "--failure-share", "7")).code).toBe(2);
});

test("alerts test explains what it needs if promtool is missing", async () => {
  process.env.PATH = folder;
  const { code, stderr } = await run("alerts", "test", "--out", path.join(folder, "rules.yml"));
  expect([code, stderr]).toEqual([1, expect.stringContaining("there is no promtool on PATH")]);
});

const testWith = noPrometheus ? test.skip : test;
const why = noPrometheus ? ` (${noPrometheus})` : "";

testWith(
  `alerts test simulates every fault for the stack's endpoints, and its rule tests are part of the package${why}`,
  async () => {
    withState([
      endpoint("llama1234567", { workersMin: 1 }),
      endpoint("lb1234567890", { type: "LOAD_BALANCER", scalerType: "REQUEST_COUNT" }),
    ]);
    const file = path.join(folder, "rules.yml");
    const { code, stdout, stderr } = await run("alerts", "test", "--out", file);
    expect([code, stdout]).toEqual([0, expect.stringContaining("the expected alerts fired, and no others")]);
    expect(stderr).toContain("crashLoop");
    expect(promtool(["test", "rules", path.join(folder, "rules.test.yml")])).toContain("SUCCESS");
  },
  900_000,
);

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

testWith(`the real Prometheus scrapes the exporter, loads the rules and shows an alert${why}`, async () => {
  await using emulator = await startEmulator({ profile: "observed" });
  Object.assign(process.env, emulator.env);
  // The state says 3.
  const seed = { id: "llama1234567", name: "llama", templateId: "t", gpuIds: "ADA_24", workersMax: 4, idleTimeout: 10 };
  emulator.seed({ endpoints: [seed] });
  const rules = path.join(folder, "rules.yml");
  expect((await run("alerts", "--out", rules)).code).toBe(0);
  // A real minute would be too long for a test.
  writeFileSync(rules, readFileSync(rules, "utf8").replace(/for: "\d+s"/g, 'for: "1s"'));
  const exporter = start("metrics", "--listen", "0");
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
    const found = await alertsAt(`http://127.0.0.1:${port}/api/v1/alerts`, "ServerlessGpuDrift");
    expect(found).toEqual(["ServerlessGpuDrift"]);
  } finally {
    prometheus.kill("SIGKILL");
    exporter.kill("SIGTERM");
    await Promise.all([gone, exported]);
  }
});

/**
 * Returns the names of the firing alerts, once the wanted one fires alone. At the start, nothing
 * was read.
 */
async function alertsAt(url: string, wanted: string): Promise<string[]> {
  for (let attempt = 0; attempt < 600; attempt++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const response = await fetch(url).catch(() => undefined);
    if (!response?.ok) continue;
    const { data } = (await response.json()) as {
      data: { alerts: { state: string; labels: { alertname: string } }[] };
    };
    const firing = data.alerts.filter(({ state }) => state === "firing");
    if (firing.length === 1 && firing[0]?.labels.alertname === wanted)
      return firing.map(({ labels }) => labels.alertname);
  }
  return [];
}
