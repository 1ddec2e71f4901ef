import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { stringify } from "yaml";
import { noPrometheus, promtool } from "../support/prometheus";
import { parseYaml } from "../support/yaml";
import { codeBlocks } from "./markdown";

// The examples of other systems, as far as their own tools are here.

const blocks = codeBlocks("docs/how-to/record-and-alert.md");
const documents = blocks.filter(({ language }) => language === "yaml").flatMap(({ text }) => parseYaml(text));

/** Returns the one example that has a field. */
function example<T>(field: string, value?: unknown): T {
  const found = documents.filter((each) => {
    const fields = each as Readonly<Record<string, unknown>>;
    return field in fields && (value === undefined || fields[field] === value);
  });
  expect(found.length).toBe(1);
  return found[0] as T;
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "examples-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const noSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0 ? undefined : "no systemd-analyze here";
const testSystemd = noSystemd ? test.skip : test;

testSystemd(`systemd accepts the unit${noSystemd ? ` (${noSystemd})` : ""}`, () => {
  const unit = blocks.find(({ text }) => text.startsWith("[Unit]"))?.text ?? "";
  const file = path.join(folder, "serverless-gpu-metrics.service");
  // systemd looks for the program, and npx may be elsewhere on this machine.
  writeFileSync(file, unit.replace("ExecStart=/usr/bin/npx", `ExecStart=${process.execPath}`));
  const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" });
  const aboutIt = `${stdout}${stderr}`.split("\n").filter((line) => line.includes("serverless-gpu"));
  expect([status, aboutIt]).toEqual([0, []]);
});

const testPromtool = noPrometheus ? test.skip : test;

testPromtool(`Prometheus accepts its config${noPrometheus ? ` (${noPrometheus})` : ""}`, () => {
  const file = path.join(folder, "prometheus.yml");
  writeFileSync(file, stringify(example("rule_files")));
  expect(promtool(["check", "config", "--syntax-only", file])).toContain("SUCCESS");
});

test("the parts of the Kubernetes example refer to each other by name", () => {
  const deployment = example<{
    spec: {
      selector: { matchLabels: object };
      template: { metadata: { labels: object }; spec: { containers: { ports: object[]; command: string[] }[] } };
    };
  }>("kind", "Deployment");
  const monitor = example<{ spec: { selector: { matchLabels: object }; podMetricsEndpoints: { port: string }[] } }>(
    ...(["kind", "PodMonitor"] as const),
  );
  const { labels } = deployment.spec.template.metadata;
  expect(deployment.spec.selector.matchLabels).toEqual(labels);
  expect(monitor.spec.selector.matchLabels).toEqual(labels);
  const [container] = deployment.spec.template.spec.containers;
  expect(container?.ports).toEqual([{ name: monitor.spec.podMetricsEndpoints[0]?.port, containerPort: 9837 }]);
  expect(container?.command).toContain("0.0.0.0:9837");
});
