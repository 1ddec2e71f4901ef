import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { openRecorder } from "../../../cli/metrics/recorder";
import type { ManagementApi } from "../../../sdk";
import { startPlay } from "../../support/play";

const MINUTE_MS = 60_000;
const KEY = "canary-key-e1f2a3b4";
const seedOf = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    id: `endpoint${at}`,
    name: `llama-${at}`,
    templateId: "t",
    gpuIds: "ADA_24",
  }));

/** Returns the values of a metric, by its labels. */
function values(text: string, name: string): Record<string, number> {
  const lines = text
    .split("\n")
    .flatMap((line) => new RegExp(`^serverless_gpu_${name}(?:\\{(.*)\\})? (\\S+)$`).exec(line) ?? []);
  const found: Record<string, number> = {};
  for (let at = 0; at < lines.length; at += 3) found[lines[at + 1] ?? ""] = Number(lines[at + 2]);
  return found;
}

/** Makes the service respond with these counters, until the returned function is called. */
function counters(
  play: Awaited<ReturnType<typeof startPlay>>,
  endpointId: string,
  completed: number,
  failed = 0,
  running = 0,
) {
  const body = { jobs: { completed, failed, inProgress: 0, inQueue: 0, retried: 0 }, workers: { idle: 0, running } };
  return play.emulator.faults.add({ match: { operation: "health", endpointId }, effect: { status: 200, body } });
}

test("a counter of the service that steps back by one does not step back in the metrics, and counts no job twice", async () => {
  await using play = await startPlay({ api: "graphql", emulator: { seed: { endpoints: seedOf(1) } } });
  const seen: number[] = [];
  for (const completed of [100, 101, 100, 101, 100, 102]) {
    play.emulator.faults.clear();
    counters(play, "endpoint0", completed, completed);
    await play.advance(MINUTE_MS);
    const text = await play.scrape();
    for (const name of ["completed", "failed"])
      seen.push(...Object.values(values(text, `endpoint_jobs_${name}_total`)));
  }
  expect(seen).toEqual([100, 100, 101, 101, 101, 101, 101, 101, 101, 101, 102, 102]);
});

test("a counter that the service has started again goes on in the metrics", async () => {
  await using play = await startPlay({ api: "graphql", emulator: { seed: { endpoints: seedOf(1) } } });
  counters(play, "endpoint0", 100);
  await play.advance(MINUTE_MS);
  play.emulator.faults.clear();
  counters(play, "endpoint0", 3);
  await play.advance(10 * MINUTE_MS);
  play.emulator.faults.clear();
  counters(play, "endpoint0", 7);
  await play.advance(MINUTE_MS);
  expect(Object.values(values(await play.scrape(), "endpoint_jobs_completed_total"))).toEqual([104]);
});

test("a negative counter of one endpoint is ignored, and everything else is exported", async () => {
  await using play = await startPlay({ api: "graphql", emulator: { seed: { endpoints: seedOf(2) } } });
  counters(play, "endpoint0", -1, -1, -1);
  await play.advance(2 * MINUTE_MS);
  const text = await play.scrape();
  expect(Object.values(values(text, "endpoint_jobs_completed_total"))).toEqual([0, 0]);
  expect(Object.keys(values(text, "endpoint_workers_max"))).toHaveLength(2);
});

test("a counter that is negative at first starts at 0, and what it shows later is no increase", async () => {
  await using play = await startPlay({ api: "graphql", emulator: { seed: { endpoints: [] } } });
  counters(play, "endpoint0", -1, -1);
  const [endpoint] = seedOf(1);
  if (endpoint) play.emulator.endpoints.create(endpoint);
  const seen: number[] = [];
  for (const failed of [-1, 5000, 5001]) {
    play.emulator.faults.clear();
    counters(play, "endpoint0", 7, failed);
    await play.advance(2 * MINUTE_MS);
    seen.push(...Object.values(values(await play.scrape(), "endpoint_jobs_failed_total")));
  }
  expect(seen).toEqual([0, 0, 1]);
});

// Without the quotes, the line would be invalid, and Prometheus rejects the whole scrape for that.
test.each([
  "my-authorization",
  'bearer "x\\',
  "two\nlines\r\u2028",
  "api_key=",
])("an endpoint's name %j is a valid label", async (name) => {
  const endpoints = [{ id: "e1", name, templateId: "t", gpuIds: "ADA_24" }];
  await using play = await startPlay({ api: "graphql", emulator: { seed: { endpoints } } });
  await play.advance(MINUTE_MS);
  const quoted = name.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
  expect(await play.scrape()).toContain(
    `endpoint_info{endpoint_id="e1",name="${quoted}",type="QUEUE",scaler_type="QUEUE_DELAY"} 1\n`,
  );
});

test("a key that is also a word of the metrics hides only names", async () => {
  const endpoints = [{ id: "e1", name: "my serverless", templateId: "t", gpuIds: "ADA_24" }];
  await using play = await startPlay({ api: "graphql", emulator: { apiKey: "serverless", seed: { endpoints } } });
  await play.advance(MINUTE_MS);
  const text = await play.scrape();
  expect(text).toContain('serverless_gpu_endpoint_info{endpoint_id="e1",name="my [redacted]"');
  expect(text).toContain("serverless_gpu_endpoint_jobs{");
});

test("while 80 of 100 queues do not answer, the others are read often enough for their alerts", async () => {
  const endpoints = seedOf(100);
  await using play = await startPlay({ api: "graphql", emulator: { seed: { endpoints } } });
  const [stalled, others] = [endpoints.slice(0, 80), endpoints.slice(80)];
  for (const { id } of stalled)
    play.emulator.faults.add({ match: { operation: "health", endpointId: id }, effect: { hang: true } });
  const oldest: number[] = [];
  for (let minute = 0; minute < 4; minute++) {
    await play.advance(MINUTE_MS);
    const ages = values(await play.scrape(), "endpoint_read_age_seconds");
    oldest.push(Math.max(...others.map(({ id }) => ages[`endpoint_id="${id}",read="queue"`] ?? Infinity)));
  }
  // The rules use values that are at most two minutes old. A scrape can be a minute old.
  expect(Math.max(...oldest)).toBeLessThan(75);
});

test("an endpoint that is renamed so that the filter no longer matches is not read any more", async () => {
  const endpoints = ["prod-a", "prod-b"].map((name) => ({ id: name, name, templateId: "t", gpuIds: "ADA_24" }));
  const isWanted = ({ name }: { name: string }) => name.startsWith("prod-");
  await using play = await startPlay({ api: "graphql", emulator: { seed: { endpoints } }, isWanted });
  await play.advance(MINUTE_MS);
  play.emulator.endpoints.change("prod-a", { name: "dev-a" });
  await play.advance(2 * MINUTE_MS);
  expect(Object.keys(values(await play.scrape(), "endpoint_jobs"))).toEqual([
    'endpoint_id="prod-b",state="queued"',
    'endpoint_id="prod-b",state="in_progress"',
  ]);
});

test("stock, prices and account limits are exported until after the next read of them is due", async () => {
  await using play = await startPlay({ api: "graphql", emulator: { seed: { endpoints: seedOf(1) }, spendLimit: 80 } });
  for (let minute = 0; minute < 22; minute++) {
    const text = await play.scrape();
    for (const name of ["gpu_stock", "account_limit_dollars_per_hour"])
      expect([minute, name, Object.keys(values(text, name)).length > 0]).toEqual([minute, name, true]);
    await play.advance(MINUTE_MS);
  }
});

test("releases of 60 endpoints, which take ten minutes to read, are exported all the time", async () => {
  await using play = await startPlay({ api: "v2", emulator: { seed: { endpoints: seedOf(60) } } });
  await play.advance(11 * MINUTE_MS);
  for (let minute = 0; minute < 10; minute++) {
    expect(Object.keys(values(await play.scrape(), "endpoint_release_info"))).toHaveLength(60);
    await play.advance(MINUTE_MS);
  }
});

test("a price from the public price table says so", async () => {
  await using play = await startPlay({ api: "v2", emulator: { seed: { endpoints: seedOf(1) } } });
  await play.advance(MINUTE_MS);
  const text = await play.scrape();
  expect(text).toMatch(/gpu_price_dollars_per_hour\{gpu="ADA_24",source="catalog"\}/);
  play.emulator.faults.add({ match: { interface: "v2" }, effect: { status: 503 } });
  await play.advance(45 * MINUTE_MS);
  const later = await play.scrape();
  expect(later).toMatch(/gpu_price_dollars_per_hour\{gpu="ADA_24",source="the public price table of 2026-06-08"\}/);
  expect(Object.keys(values(later, "endpoint_dollars_per_hour"))).toEqual([
    'endpoint_id="endpoint0",price="the public price table of 2026-06-08"',
  ]);
});

test("a key in an endpoint's name is not in the recording", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "recorded-key-"));
  const endpoints = [{ id: "e1", name: `dev-${KEY}`, templateId: "t", gpuIds: "ADA_24" }];
  await using play = await startPlay({ api: "graphql", emulator: { apiKey: KEY, seed: { endpoints } } });
  const recorder = openRecorder(folder, play.readings, "", () => {});
  play.readings.onRound(() => recorder.look());
  await play.advance(3 * MINUTE_MS);
  recorder.close();
  const text = readdirSync(folder)
    .map((name) => readFileSync(path.join(folder, name), "utf8"))
    .join("");
  rmSync(folder, { recursive: true });
  expect(text).toContain("dev-[redacted]");
  expect(text).not.toContain(KEY);
});

test("settings keep their last value while the queue is read, with their age", async () => {
  await using play = await startPlay({ api: "graphql", emulator: { seed: { endpoints: seedOf(1) } } });
  await play.advance(2 * MINUTE_MS);
  play.emulator.faults.add({ match: { interface: "graphql" }, effect: { status: 503 } });
  await play.advance(20 * MINUTE_MS);
  const text = await play.scrape();
  expect(values(text, "endpoint_workers_max")).toEqual({ 'endpoint_id="endpoint0"': 3 });
  expect(values(text, "endpoint_read_age_seconds")['endpoint_id="endpoint0",read="settings"']).toBeGreaterThan(1100);
  expect(values(text, "endpoint_read_timestamp_seconds")['endpoint_id="endpoint0",read="settings"']).toBeLessThan(
    play.emulator.clock.now() / 1000 - 1100,
  );
});

test("errors are counted from the start, a name is on one series only, and an unknown stack is not a label", async () => {
  await using play = await startPlay({ api: "graphql", emulator: { seed: { endpoints: seedOf(1) } } });
  await play.advance(MINUTE_MS);
  const text = await play.scrape();
  expect(values(text, "read_errors_total")['read="endpoints"']).toBe(0);
  expect(values(text, "endpoint_read_errors_total")['endpoint_id="endpoint0",read="queue"']).toBe(0);
  expect(text.split("\n").filter((line) => line.includes("llama-0"))).toHaveLength(1);
  expect(text).not.toContain("stack=");
});

test.each<ManagementApi>([
  "graphql",
  "v2",
])("an outage is one line for the queues and one for the workers of 150 endpoints over %s, and each other endpoint's own error is another", async (api) => {
  const said: string[] = [];
  await using play = await startPlay({
    api,
    emulator: { seed: { endpoints: seedOf(150) }, rateLimits: { management: "off" } },
    say: (message) => said.push(message),
  });
  await play.advance(MINUTE_MS);
  expect(said).toEqual([]);
  play.emulator.faults.add({ match: { operation: "health", endpointId: "endpoint7" }, effect: { status: 404 } });
  await play.advance(MINUTE_MS);
  expect(said).toEqual([expect.stringMatching(/^the queue of endpoint endpoint7 could not be read: /)]);
  play.emulator.faults.clear();
  play.emulator.faults.add({ effect: { status: 503 } });
  await play.advance(6 * MINUTE_MS);
  const of = (what: string) => said.slice(1).filter((each) => each.includes(what));
  expect(of("the queue")).toEqual([
    expect.stringMatching(/^the queues of 150 endpoints, such as endpoint\d+, could not be read: .*503/),
  ]);
  expect(of("the workers")).toHaveLength(1);
  expect(said.length).toBeLessThan(10);
}, 120_000);
