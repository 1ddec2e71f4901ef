import { type Emulator, manualClock, startEmulator } from "../../../emulator";
import { graphql } from "../../support/plainClient";
import { callV2 } from "./call";

let emulator: Emulator;
const clock = manualClock();
const settings = { id: "e1", name: "e", templateId: "t", gpuIds: "ADA_24", workersMin: 1, workersMax: 2 };

beforeEach(async () => {
  emulator = await startEmulator({ clock, profile: "observed", rateLimits: { management: "off" }, drainMs: 0 });
  emulator.seed({ templates: [{ id: "t", name: "t", imageName: "app:1", env: [{ key: "TOKEN", value: "old" }] }] });
});
afterEach(() => emulator.stop());

async function read(path: string) {
  return (await callV2(emulator, "GET", `/serverless/e1${path}`)).body;
}

/** Starts an endpoint under a fault rule, and returns its only worker after a time. */
async function workerUnder(effect: object, ms: number) {
  emulator.faults.add({ effect });
  emulator.seed({ endpoints: [{ ...settings, workersMax: 1 }] });
  await clock.advance(ms);
  return (await read("/workers")).workers[0];
}

/** Reads the events of a log until there are `count`. */
async function events(workerId: string, count: number, query = "", lastEventId?: string) {
  const url = `${emulator.url}/v2/serverless/e1/workers/${workerId}/logs${query}`;
  const headers = { authorization: `Bearer ${emulator.apiKey}`, ...(lastEventId && { "last-event-id": lastEventId }) };
  const stop = new AbortController();
  const response = await fetch(url, { headers, signal: stop.signal });
  let text = "";
  const read = () => text.split("\n\n").slice(0, -1);
  const decoder = new TextDecoder();
  if (response.status === 200 && response.body) {
    const reader = response.body.getReader();
    while (read().length < count) text += decoder.decode((await reader.read()).value, { stream: true });
    stop.abort();
  }
  const shown = read().map((event) => {
    const [id = "", data = ""] = event.split("\n");
    return { id: id.slice("id: ".length), ...JSON.parse(data.slice("data: ".length)) };
  });
  return { status: response.status, type: response.headers.get("content-type"), events: shown };
}

test("[v2.worker-states] a starting worker is INITIALIZING and then IDLE, and the counts add up", async () => {
  emulator.seed({ endpoints: [settings] });
  expect((await read("/workers")).workers).toMatchObject([{ status: "INITIALIZING", isStale: false, image: "app:1" }]);
  await clock.advance(1000);
  const { workers, summary } = await read("/workers");
  expect(workers).toMatchObject([{ status: "IDLE", uptimeSeconds: 1, version: 0 }]);
  expect(summary).toEqual({ running: 0, idle: 1, initializing: 0, throttled: 0, unhealthy: 0, total: 1 });
});

test("[v2.stale] [v2.rollout] [v2.releases] [v2.release-diff] a release replaces idle workers at once and busy workers after their job", async () => {
  await emulator.stop();
  const handlers = { default: async (_: unknown, { sleep }: { sleep(ms: number): Promise<void> }) => sleep(60_000) };
  emulator = await startEmulator({
    clock,
    profile: "observed",
    rateLimits: { management: "off" },
    drainMs: 0,
    handlers,
  });
  emulator.seed({ templates: [{ id: "t", name: "t", imageName: "app:1", env: [{ key: "TOKEN", value: "old" }] }] });
  emulator.seed({ endpoints: [{ ...settings, workersMin: 2 }] });
  await clock.advance(1000);
  await fetch(`${emulator.url}/v2/e1/run`, {
    method: "POST",
    body: JSON.stringify({ input: { n: 1 } }),
    headers: { authorization: `Bearer ${emulator.apiKey}`, "content-type": "application/json" },
  });
  await clock.advance(1000);
  const before = (await read("/workers")).workers.map(({ id }: { id: string }) => id);
  emulator.templates.change("t", { env: [{ key: "TOKEN", value: "new" }] });
  const { workers } = await read("/workers");
  expect(workers).toMatchObject([
    { status: "RUNNING", isStale: true, version: 0 },
    { status: "INITIALIZING", isStale: false, version: 1 },
  ]);
  expect(before).not.toContain(workers[1].id);
  const { rollout, releases, endpointVersion } = await read("/releases?limit=1");
  expect([endpointVersion, rollout]).toEqual([
    1,
    { inProgress: true, workersOnLatest: 1, workersTotal: 2, percentOnLatest: 50 },
  ]);
  expect(releases).toMatchObject([
    {
      version: 1,
      source: "MANUAL",
      buildId: null,
      diff: [{ field: "template.env", old: { TOKEN: "old" }, new: { TOKEN: "new" } }],
    },
  ]);
  await clock.advance(60_000);
  const after = await read("/workers");
  expect(after.workers.map(({ isStale }: { isStale: boolean }) => isStale)).toEqual([false, false]);
  expect((await read("/releases")).rollout).toMatchObject({ inProgress: false, workersOnLatest: 2 });
  expect((await read("/releases")).releases.map(({ version }: { version: number }) => version)).toEqual([1, 0]);
});

test("[workers.release-fields] only changes to the container or the machine create a new version", async () => {
  emulator.seed({ endpoints: [{ ...settings, workersMin: 0 }] });
  const version = () => emulator.endpoints.get("e1")?.version;
  const counts = {
    workersMax: 3,
    scalerValue: 7,
    scalerType: "REQUEST_COUNT",
    idleTimeout: 30,
    executionTimeoutMs: 5000,
  } as const;
  emulator.endpoints.change("e1", counts);
  emulator.endpoints.change("e1", { name: "other" });
  expect(version()).toBe(0);
  const releasing = [{ gpuIds: "AMPERE_16" }, { gpuCount: 2 }, { minCudaVersion: "12.4" }, { locations: "EU-RO-1" }];
  for (const change of [...releasing, { flashBootType: "FLASHBOOT" as const }, { networkVolumeId: "v" }])
    emulator.endpoints.change("e1", change);
  expect(version()).toBe(6);
  emulator.endpoints.change("e1", { locations: "EU-RO-1" });
  expect(version()).toBe(6);
  const { rollout, releases } = await read("/releases");
  expect(rollout).toEqual({ inProgress: false, workersOnLatest: 0, workersTotal: 0, percentOnLatest: 0 });
  expect(releases[0].diff.map(({ field }: { field: string }) => field)).toEqual(["networkVolumes"]);
});

test("[v2.logs] [workers.log] [v2.logs-parameters] [v2.logs-resume] a log sends earlier lines first and then new ones", async () => {
  emulator.seed({ endpoints: [{ ...settings, workersMax: 1 }] });
  await clock.advance(1000);
  const { id } = (await read("/workers")).workers[0];
  const first = await events(id, 3);
  expect([first.status, first.type]).toEqual([200, "text/event-stream"]);
  expect(first.events.map(({ source, line }) => [source, line])).toEqual([
    ["system", "create container app:1"],
    ["system", "start container for app:1: begin"],
    ["container", "--- Starting Serverless Worker ---"],
  ]);
  expect(first.events[0]?.id).toBe(first.events[0]?.ts);
  expect((await events(id, 1, "?source=container")).events).toHaveLength(1);
  expect((await events(id, 1, "?tail=1")).events.map(({ source }) => source)).toEqual(["container"]);
  expect((await events(id, 1, "?tail=2", first.events[1]?.id)).events.map(({ source }) => source)).toEqual([
    "container",
  ]);
  const since = `?since=${encodeURIComponent(first.events[1]?.ts ?? "")}`;
  expect((await events(id, 1, since)).events.map(({ source }) => source)).toEqual(["container"]);
});

test("[v2.logs-worker] [v2.logs-invalid] an unknown worker returns 404, and invalid parameters return 422", async () => {
  emulator.seed({ endpoints: [settings] });
  const { id } = (await read("/workers")).workers[0];
  expect((await events("none", 1)).status).toBe(404);
  for (const query of ["?source=all", "?tail=5001", "?tail=x", "?since=yesterday"])
    expect([query, (await events(id, 1, query)).status]).toEqual([query, 422]);
});

test("[worker-fault.image-pull-error] [worker-fault.unhealthy] a worker whose image cannot be pulled stays initializing and then becomes unhealthy", async () => {
  const { id, status } = await workerUnder({ imagePullError: true }, 60_000);
  expect(status).toBe("INITIALIZING");
  const { events: lines } = await events(id, 3, "?source=system");
  expect(lines.at(-1)?.line).toContain("manifest for app:1 not found");
  await clock.advance(6 * 60_000);
  expect((await read("/workers")).summary).toMatchObject({ initializing: 0, unhealthy: 1, total: 1 });
  const headers = { authorization: `Bearer ${emulator.apiKey}` };
  const health = await fetch(`${emulator.url}/v2/e1/health`, { headers });
  expect(await health.json()).toMatchObject({ workers: { initializing: 0, unhealthy: 1 } });
});

test("[worker-fault.crash-loop] the log of a crashing container shows each start, and no output", async () => {
  const { id } = await workerUnder({ crashLoop: true }, 25_000);
  const { events: lines } = await events(id, 7);
  expect(lines.filter(({ line }) => line.startsWith("start container"))).toHaveLength(3);
  expect(lines.filter(({ source }) => source === "container")).toEqual([]);
});

test("[worker-fault.no-jobs] a worker that takes no jobs stays idle while jobs wait", async () => {
  const { status } = await workerUnder({ takesNoJobs: true }, 1000);
  expect(status).toBe("IDLE");
  await fetch(`${emulator.url}/v2/e1/run`, {
    method: "POST",
    body: JSON.stringify({ input: { n: 1 } }),
    headers: { authorization: `Bearer ${emulator.apiKey}`, "content-type": "application/json" },
  });
  await clock.advance(60_000);
  expect((await read("/workers")).summary).toMatchObject({ idle: 1, running: 0 });
});

test.each<[object, number]>([
  [{ imagePullError: true }, 60_000],
  [{ imagePullError: true }, 10 * 60_000],
  [{ crashLoop: true }, 25_000],
  [{ takesNoJobs: true }, 1_000],
  [{ takesNoJobs: true }, 0],
  [{ throttleWorkerMs: 3_600_000 }, 60_000],
])("[worker-fault.removed] workers recover when their rule is removed: %j after %i ms", async (effect, ms) => {
  await workerUnder(effect, ms);
  emulator.faults.clear();
  const headers = { authorization: `Bearer ${emulator.apiKey}`, "content-type": "application/json" };
  await fetch(`${emulator.url}/v2/e1/run`, { method: "POST", body: JSON.stringify({ input: { n: 1 } }), headers });
  await clock.advance(30_000);
  const { jobs } = (await (await fetch(`${emulator.url}/v2/e1/health`, { headers })).json()) as { jobs: object };
  expect(jobs).toMatchObject({ completed: 1, inQueue: 0 });
});

test("[myself.pod-details] GraphQL shows the version, the image and the age of an endpoint's pods", async () => {
  emulator.seed({ endpoints: [settings] });
  await clock.advance(5000);
  const query = '{ myself { endpoint(id: "e1") { version pods { id slsVersion imageName uptimeSeconds } } } }';
  const { body } = await graphql(emulator, query);
  expect(body.data.myself.endpoint).toMatchObject({
    version: 0,
    pods: [{ slsVersion: 0, imageName: "app:1", uptimeSeconds: 5 }],
  });
});
