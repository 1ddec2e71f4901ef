import type { EmulatorOptions } from "../../../emulator";
import { startPlay } from "../../support/play";
import { noPrometheus, promtool } from "../../support/prometheus";

const KEY = "canary-key-e1f2a3b4";
const MINUTE_MS = 60_000;

const endpointsOf = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    id: `endpoint${at}`,
    name: `llama-${at}`,
    templateId: "t",
    gpuIds: "ADA_24",
    workersMax: 3,
    gpuCount: 2,
  }));

const withEndpoints = (count: number, more: EmulatorOptions = {}): EmulatorOptions => ({
  apiKey: KEY,
  drainMs: 0,
  coldStartMs: 1000,
  seed: { endpoints: endpointsOf(count) },
  handlers: { default: (_: unknown, { sleep }: { sleep(ms: number): Promise<void> }) => sleep(20_000) },
  ...more,
});

/** Returns the values of a metric's series, by their labels. */
function seriesOf(text: string, name: string): Record<string, number> {
  const lines = text
    .split("\n")
    .filter((line) => line.startsWith(`serverless_gpu_${name}{`) || line.startsWith(`serverless_gpu_${name} `));
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.lastIndexOf(" ");
      return [line.slice(`serverless_gpu_${name}`.length, at), Number(line.slice(at + 1))];
    }),
  );
}

const values = (text: string, name: string) => Object.values(seriesOf(text, name));

test.each([
  "graphql",
  "v2",
] as const)("over %s, the exporter shows the service's values, and omits unknown values instead of exporting 0", async (api) => {
  await using play = await startPlay({ api, emulator: withEndpoints(1) });
  for (let job = 0; job < 5; job++) await play.submit("endpoint0", { prompt: "planted-input-5511" });
  await play.advance(MINUTE_MS);
  const text = await play.scrape();
  const own = 'endpoint_id="endpoint0"';
  expect(seriesOf(text, "endpoint_jobs_completed_total")).toEqual({ [`{${own}}`]: expect.any(Number) });
  expect(seriesOf(text, "endpoint_workers_max")).toEqual({ [`{${own}}`]: 3 });
  expect(Object.keys(seriesOf(text, "endpoint_workers"))).toContain(`{${own},state="throttled"}`);
  expect(values(text, "endpoint_worker_seconds_total").some((seconds) => seconds > 10)).toBe(true);
  expect(seriesOf(text, "account_limit_dollars_per_hour")).toEqual({});
  expect(values(text, "gpu_price_dollars_per_hour").every((price) => price > 0)).toBe(true);
  const [release] = values(text, "endpoint_release_info");
  expect(release).toBe(api === "v2" ? 1 : undefined);
  await play.advance(2 * MINUTE_MS);
  const later = await play.scrape();
  expect(seriesOf(later, "endpoint_jobs_completed_total")).toEqual({ [`{${own}}`]: 5 });
  expect(text + later).not.toContain(KEY);
  expect(text + later).not.toContain("planted-input-5511");
});

test("a scrape sends no requests to the service", async () => {
  await using play = await startPlay({ api: "v2", emulator: withEndpoints(3) });
  await play.advance(MINUTE_MS);
  const before = play.emulator.journal.requests().length;
  for (let scrape = 0; scrape < 20; scrape++) await play.scrape();
  expect(play.emulator.journal.requests()).toHaveLength(before);
});

test("while a service cannot be reached, its last values are exported with their age for five minutes, then removed", async () => {
  await using play = await startPlay({ api: "graphql", emulator: withEndpoints(1) });
  await play.submit("endpoint0");
  await play.advance(2 * MINUTE_MS);
  play.emulator.faults.add({ effect: { status: 503 } });
  await play.advance(4 * MINUTE_MS);
  const stale = await play.scrape();
  expect(values(stale, "endpoint_jobs_completed_total")).toEqual([1]);
  expect(values(stale, "endpoint_workers_max")).toEqual([3]);
  const [age = 0] = values(stale, "endpoint_read_age_seconds");
  expect(age).toBeGreaterThan(200);
  await play.advance(2 * MINUTE_MS);
  const gone = await play.scrape();
  for (const name of ["endpoint_jobs", "endpoint_jobs_completed_total", "endpoint_workers", "endpoint_workers_max"])
    expect([name, values(gone, name)]).toEqual([name, []]);
  expect(values(gone, "endpoint_read_age_seconds")[0]).toBeGreaterThan(300);
  expect(values(gone, "endpoint_read_errors_total")[0]).toBeGreaterThan(5);
  play.emulator.faults.clear();
  await play.advance(2 * MINUTE_MS);
  expect(values(await play.scrape(), "endpoint_jobs_completed_total")).toEqual([1]);
});

test("an endpoint is still exported if only the list omits it, and disappears once its queue is gone as well", async () => {
  await using play = await startPlay({ api: "graphql", emulator: withEndpoints(2) });
  play.emulator.faults.add({ effect: { emptyLists: true } });
  await play.advance(4 * MINUTE_MS);
  expect(Object.keys(seriesOf(await play.scrape(), "endpoint_jobs_completed_total"))).toHaveLength(2);
  play.emulator.faults.clear();
  play.emulator.endpoints.delete("endpoint1");
  await play.advance(3 * MINUTE_MS);
  expect(Object.keys(seriesOf(await play.scrape(), "endpoint_info"))).toHaveLength(1);
  expect(await play.scrape()).not.toContain("endpoint1");
});

test.each([
  "graphql",
  "v2",
] as const)("reads over %s take at most 20 management requests a minute for 1, 10 and 100 endpoints", async (api) => {
  const most: Record<number, number> = {};
  for (const count of [1, 10, 100]) {
    await using play = await startPlay({ api, emulator: withEndpoints(count) });
    const { journal } = play.emulator;
    const minutes: number[] = [];
    for (let minute = 0; minute < 12; minute++) {
      const before = journal.requests().filter(({ operation }) => operation !== "health").length;
      if (minute === 0) expect(before).toBeLessThanOrEqual(20);
      await play.advance(MINUTE_MS);
      const after = journal.requests().filter(({ operation }) => operation !== "health").length;
      minutes.push(minute === 0 ? after : after - before);
    }
    most[count] = Math.max(...minutes);
    expect(values(await play.scrape(), "endpoint_jobs_completed_total")).toHaveLength(count);
  }
  process.stdout.write(`${api}: most management requests a minute by endpoints: ${JSON.stringify(most)}\n`);
  expect(Math.max(...Object.values(most))).toBeLessThanOrEqual(20);
});

test("5,000 endpoints are refused with a message that states the limit, and the requests stay within the budget", async () => {
  for (const api of ["graphql", "v2"] as const) {
    await using play = await startPlay({ api, emulator: withEndpoints(5000) });
    await expect(play.readings.first()).rejects.toThrow("metrics reads at most 500");
    // The list is read twice. Each read ends after 20 requests, when those in flight have ended.
    expect(play.emulator.journal.requests().length).toBeLessThan(100);
    expect(await play.scrape()).not.toContain("endpoint_jobs{");
  }
});

(noPrometheus ? test.skip : test)(
  `promtool check metrics finds nothing to complain about${noPrometheus ? ` (${noPrometheus})` : ""}`,
  async () => {
    await using play = await startPlay({ api: "v2", emulator: withEndpoints(2, { workerQuota: 10, spendLimit: 80 }) });
    await play.submit("endpoint0");
    await play.advance(2 * MINUTE_MS);
    play.emulator.faults.add({ effect: { status: 503 } });
    await play.advance(2 * MINUTE_MS);
    expect(promtool(["check", "metrics"], await play.scrape())).toBe("");
  },
);
