import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type WantedEndpoint, wantedEndpoints } from "../../../cli/metrics/wanted";
import { startEmulator } from "../../../emulator";
import { startPlay } from "../../support/play";
import { ended, firstOutput, run, start } from "../command";

const SECRET = "planted-secret-77aa";
const before = { ...process.env };
let folder: string;

const endpoint = (id: string, more: object = {}, marks: object = {}) => ({
  urn: `urn:pulumi:dev::p::pulumi-nodejs:dynamic/serverless-gpu:ServerlessEndpoint::${id}`,
  type: "pulumi-nodejs:dynamic/serverless-gpu:ServerlessEndpoint",
  id,
  outputs: { name: id, workersMin: 0, workersMax: 4, scalerType: "REQUEST_COUNT", env: { HF_TOKEN: SECRET }, ...more },
  ...marks,
});

const SCHEDULE = {
  timeZone: "Europe/Berlin",
  rules: [{ cron: "0 0 1 1 *", workersMin: 0, workersMax: 4 }],
};

/** Puts a `pulumi` on PATH that prints a state. */
function withState(resources: readonly object[], pending_operations: readonly object[] = []): void {
  writeFileSync(path.join(folder, "state.json"), JSON.stringify({ deployment: { resources, pending_operations } }));
  writeFileSync(path.join(folder, "pulumi"), `#!/bin/sh\nexec cat ${path.join(folder, "state.json")}\n`);
  chmodSync(path.join(folder, "pulumi"), 0o755);
  process.env.PATH = `${folder}:${before.PATH}`;
}

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "metrics-stack-"));
});
afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
  rmSync(folder, { recursive: true, force: true });
});

test("metrics --stack exports the stack's endpoints only, and the settings in its state without secrets", async () => {
  await using emulator = await startEmulator({ profile: "observed" });
  Object.assign(process.env, emulator.env);
  const seed = (id: string) => ({ id, name: id, templateId: "t", gpuIds: "ADA_24" });
  emulator.seed({ endpoints: ["llama1234567", "other1234567", "old123456789"].map(seed) });
  withState([
    endpoint("llama1234567", { scalerValue: { ciphertext: "x" } }, { inputs: { schedule: SCHEDULE } }),
    endpoint("old123456789", {}, { delete: true }),
    endpoint("gone12345678", {}, { pendingReplacement: true }),
    { urn: "u", type: "pulumi:pulumi:Stack" },
  ]);
  const child = start("metrics", "--listen", "0", "--stack");
  const output = ended(child);
  const url = (await firstOutput(child)).trim();
  let text = "";
  while (!text.includes("endpoint_info{")) text = await (await fetch(url)).text();
  child.kill("SIGTERM");
  expect((await output).code).toBe(0);
  expect([...new Set(text.match(/endpoint_id="\w+"/g))]).toEqual(['endpoint_id="llama1234567"']);
  expect(text).toContain(
    'endpoint_info{endpoint_id="llama1234567",name="llama1234567",type="QUEUE",scaler_type="QUEUE_DELAY",stack="dev"} 1',
  );
  expect(text).toContain('endpoint_wanted_workers_max{endpoint_id="llama1234567"} 4');
  const rule = "0 0 1 1 * (Europe/Berlin): workersMin 0, workersMax 4";
  expect(text).toContain(`endpoint_schedule_info{endpoint_id="llama1234567",rule="${rule}"} 1\n`);
  // REST v2 does not store idleTimeout for REQUEST_COUNT.
  expect(text).not.toMatch(/wanted_(scaler_value|idle_timeout_seconds)\{/);
  expect(text).not.toContain(SECRET);
});

test("settings that no run restores are not wanted, and those that a run is changing are wanted as the run sets them", async () => {
  const own = (id: string, __managed: string, marks: object = {}) => endpoint(id, { __managed, idleTimeout: 5 }, marks);
  const resources = [
    own("a", "name,workersMax"),
    own("b", "workersMax,workersMin", { ignoreChanges: ["workersMax"] }),
    own("c", "workersMax", { ignoreChanges: ["*"] }),
    own("d", "workersMax"),
    endpoint("imported"),
    endpoint("deleted"),
    endpoint("recycled", {}, { inputs: { recycleWorkers: true, templateRevision: "1" } }),
  ];
  // During an operation, this is what the engine records, and what remains if it is killed.
  const pending = (kind: string, id: string, inputs: object) => {
    const { urn, type } = endpoint(id);
    return { type: kind, resource: { urn, type, inputs } };
  };
  withState(resources, [
    pending("updating", "d", { name: "d", workersMax: 7 }),
    pending("deleting", "deleted", {}),
    pending("updating", "recycled", { workersMax: 7, scalerValue: 2, recycleWorkers: true, templateRevision: "2" }),
  ]);
  const found = await wantedEndpoints("dev");
  expect(found.map(({ id, settings }) => [id, settings])).toEqual([
    ["a", { workersMax: 4 }],
    ["b", { workersMin: 0 }],
    ["c", {}],
    ["d", { workersMax: 7 }],
    ["imported", { workersMin: 0, workersMax: 4, scalerValue: 4 }],
    // Both are at zero until their workers have stopped.
    ["deleted", { scalerValue: 4 }],
    ["recycled", { scalerValue: 2 }],
  ]);
});

test("an endpoint that a run has replaced or deleted is never missed, although the state that was read still has it", async () => {
  const wanted = (id: string): WantedEndpoint => ({ id, stack: "dev", settings: {} });
  let state = ["old", "other"];
  const endpoints = state.map((id) => ({ id, name: "x", templateId: "t", gpuIds: "ADA_24" }));
  await using play = await startPlay({
    api: "graphql",
    emulator: { seed: { endpoints } },
    readState: async () => state.map(wanted),
  });
  const gone = async () => (await play.scrape()).match(/(?<=endpoint_gone\{endpoint_id=")\w+"\} 1/g);
  await play.advance(30_000);
  state = ["other"];
  play.emulator.endpoints.delete("old");
  for (let step = 0; step < 20; step++) {
    expect(await gone()).toEqual(null);
    await play.advance(20_000);
  }
  play.emulator.endpoints.delete("other");
  await play.advance(3 * 60_000);
  expect(await gone()).toEqual(['other"} 1']);
});

test("metrics --stack refuses a state without endpoints", async () => {
  await using emulator = await startEmulator({ profile: "observed" });
  Object.assign(process.env, emulator.env);
  withState([endpoint("old123456789", {}, { delete: true })]);
  const { code, stdout, stderr } = await run("metrics", "--listen", "0", "--stack", "dev");
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("the stack's state has no ServerlessEndpoint");
});

test("the state is read again: endpoints are added and removed, and settings of an unreadable state are removed", async () => {
  const MINUTE_MS = 60_000;
  const wanted = (id: string): WantedEndpoint => ({ id, stack: "dev", settings: { workersMax: 4 } });
  let state: () => WantedEndpoint[] = () => [wanted("endpoint0")];
  const endpoints = [0, 1].map((at) => ({ id: `endpoint${at}`, name: "x", templateId: "t", gpuIds: "ADA_24" }));
  await using play = await startPlay({
    api: "graphql",
    emulator: { seed: { endpoints } },
    readState: async () => state(),
  });
  const ids = async (metric: string) =>
    (await play.scrape()).match(new RegExp(`(?<=${metric}\\{endpoint_id=")\\w+`, "g"));
  await play.advance(MINUTE_MS);
  expect(await ids("endpoint_workers_max")).toEqual(["endpoint0"]);
  state = () => [wanted("endpoint1")];
  await play.advance(6 * MINUTE_MS);
  expect(await ids("endpoint_workers_max")).toEqual(["endpoint1"]);
  expect(await ids("endpoint_wanted_workers_max")).toEqual(["endpoint1"]);
  state = () => {
    throw new Error("the backend cannot be reached");
  };
  await play.advance(20 * MINUTE_MS);
  expect(await ids("endpoint_workers_max")).toEqual(["endpoint1"]);
  expect(await ids("endpoint_wanted_workers_max")).toEqual(null);
  expect(await play.scrape()).toContain('serverless_gpu_read_errors_total{read="state"} 4');
});
