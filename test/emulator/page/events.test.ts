import { type Emulator, type EmulatorOptions, type ManualClock, manualClock, startEmulator } from "../../../emulator";
import type { Change } from "../../../emulator/page/views";
import { callControl, getPod, send } from "../../support/plainClient";

const ENDPOINT = { id: "chat", name: "llama-chat", gpuIds: "ADA_24", templateId: "t", workersMax: 1 };

let emulator: Emulator;
let clock: ManualClock;
let closers: (() => void)[] = [];

beforeEach(() => start());
afterEach(async () => {
  for (const close of closers) close();
  closers = [];
  await emulator.stop();
});

async function start(options: EmulatorOptions = {}): Promise<void> {
  await emulator?.stop();
  clock = manualClock(1_000_000);
  const rateLimits = { limits: "off" } as const;
  emulator = await startEmulator({
    profile: "contract",
    clock,
    coldStartMs: 1000,
    rateLimits,
    seed: { endpoints: [ENDPOINT] },
    ...options,
  });
}

/** Opens the events as the page does, and returns a function that returns the next change. */
async function follow(query = ""): Promise<() => Promise<Change>> {
  const controller = new AbortController();
  closers.push(() => controller.abort());
  const response = await fetch(`${emulator.url}/_emulator/events${query}`, { signal: controller.signal });
  expect(response.headers.get("content-type")).toMatch("text/event-stream");
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return async () => {
    for (;;) {
      const end = text.indexOf("\n\n");
      const event = text.slice(0, Math.max(0, end));
      if (end >= 0) text = text.slice(end + 2);
      if (event.startsWith("data: ")) return JSON.parse(event.slice(6));
      if (end < 0) text += (await reader.read()).value ?? "";
    }
  };
}

const submit = async (endpointId = "chat") =>
  (await callControl(emulator, "POST", "jobs", { endpointId, input: { n: 1 } })).body.id as string;

/** Returns the next change that has a field. */
async function nextWith<Name extends keyof Change>(next: () => Promise<Change>, name: Name) {
  for (;;) {
    const change = await next();
    if (change[name] !== undefined) return change as Change & Required<Pick<Change, Name>>;
  }
}

test("a load-balancing endpoint shows its requests and no queue", async () => {
  const lb = { ...ENDPOINT, id: "lb", type: "LB", scalerType: "REQUEST_COUNT" } as const;
  await start({ profile: "observed", seed: { endpoints: [ENDPOINT, lb] } });
  const { endpoints = [] } = await (await follow())();
  expect(endpoints.map(({ id, requests }) => [id, requests])).toEqual([
    ["chat", undefined],
    ["lb", { open: 0, waiting: 0 }],
  ]);
});

test("a page that is opened later gets the history of the charts, except for deleted endpoints", async () => {
  await submit();
  await clock.advance(60_000);
  const { moves = [], depths = [] } = await (await follow())();
  expect(moves.map(([, , , state]) => state)).toEqual(["starting", "idle", "gone"]);
  expect(moves.every(([at]) => at >= 1_000_000 && at < 1_060_000)).toBe(true);
  expect(depths).toContainEqual([1_000_000, "chat", 1]);
  expect(depths.at(-1)?.[2]).toBe(0);

  emulator.endpoints.delete("chat");
  emulator.endpoints.create(ENDPOINT);
  const again = await (await follow())();
  expect([again.moves, again.depths]).toEqual([undefined, undefined]);
});

test("the stream begins with the complete state and continues with the changes", async () => {
  const job = await submit();
  const authorization = `Bearer ${emulator.apiKey}`;
  await send(`${emulator.url}/v1/other`, { headers: { authorization } });
  emulator.faults.add({ effect: { status: 503 }, match: { operation: "run" } });
  const next = await follow();
  const first = await next();
  expect(first).toMatchObject({
    about: { profile: "contract" },
    clock: { now: 1_000_000, manual: true, rate: 0 },
    endpoints: [{ id: "chat", jobs: { inQueue: 1 }, oldestQueuedAt: 1_000_000, workers: [{ state: "starting" }] }],
    jobs: [{ id: job, status: "IN_QUEUE" }],
    requests: [{ interface: "rest", status: 404, outcome: "error", fidelity: "rest.other-paths" }],
    requestCount: 1,
    faults: [{ name: "status 503" }],
  });
  await clock.advance(1500);
  const change = await next();
  const [worker] = first.endpoints?.[0]?.workers ?? [];
  expect(change).toMatchObject({
    clock: { now: 1_001_500 },
    endpoints: [{ id: "chat", jobs: { inQueue: 0, completed: 1 } }],
    jobs: [{ id: job, status: "COMPLETED", workerId: worker?.id }],
    depths: [[1_001_000, "chat", 0]],
  });
  expect(change.moves).toEqual([[1_001_000, "chat", worker?.id, "idle"]]);
  expect(change).not.toHaveProperty("faults");
  expect(change).not.toHaveProperty("requests");
});

test("a change to a worker carries the time of the emulator's clock, not the time at which it was sent", async () => {
  const next = await follow();
  await next();
  await submit();
  await clock.advance(60_000);
  const moves = [(await nextWith(next, "moves")).moves];
  while (!moves.flat().some(([, , , state]) => state === "gone")) moves.push((await nextWith(next, "moves")).moves);
  expect(moves.flat().map(([at, , , state]) => [at, state])).toEqual([
    [1_000_000, "starting"],
    [1_001_000, "idle"],
    [1_011_000, "gone"],
  ]);
});

test("the stream reports removed endpoints and jobs", async () => {
  const next = await follow();
  const job = await submit();
  while (!(await nextWith(next, "jobs")).jobs.some(({ id }) => id === job));
  emulator.endpoints.delete("chat");
  expect(await next()).toMatchObject({ endpointsGone: ["chat"], jobs: [] });
  emulator.reset();
  expect((await nextWith(next, "endpoints")).endpoints).toMatchObject([{ id: "chat" }]);
});

test("jobs are filtered by endpoint and status, and a job that no longer has that status leaves the list", async () => {
  emulator.endpoints.create({ ...ENDPOINT, id: "other" });
  const waiting = await submit();
  await submit("other");
  const next = await follow("?jobEndpoint=chat&jobStatus=IN_QUEUE");
  expect((await next()).jobs?.map(({ id }) => id)).toEqual([waiting]);
  await clock.advance(2000);
  expect((await nextWith(next, "jobs")).jobs).toEqual([]);
});

test("requests are filtered, and the stream reports when a pending request ends and when the journal is cleared", async () => {
  emulator.faults.add({ effect: { latencyMs: 1000, status: 500 }, match: { operation: "health" } });
  const next = await follow("?requestText=HEALTH&requestsOnly=errors");
  await next();
  await getPod(emulator, "one");
  const pending = send(`${emulator.url}/v2/chat/health`);
  while (emulator.journal.requests().length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
  await new Promise((resolve) => setTimeout(resolve, 250));
  await clock.advance(1000);
  await pending;
  const { requests } = await nextWith(next, "requests");
  expect(requests).toMatchObject([
    { number: 2, operation: "health", status: 500, fault: "latencyMs 1000, status 500" },
  ]);
  emulator.journal.clear();
  expect(await nextWith(next, "requests")).toMatchObject({ requests: [], requestCount: 0 });
});

test("the stream contains no keys", async () => {
  await send(`${emulator.url}/graphql?api_key=${emulator.apiKey}`, { method: "POST", body: "{}" });
  const change = await (await follow())();
  expect(change.requests).toHaveLength(1);
  expect(JSON.stringify(change)).not.toContain(emulator.apiKey);
});

test("the stream sends at most 10 updates a second, each with at most the latest 200 jobs and requests", async () => {
  await start({ seed: { endpoints: [{ ...ENDPOINT, workersMax: 0 }] } });
  for (let count = 0; count < 300; count++) await submit();
  const next = await follow();
  const first = await next();
  const startedAt = performance.now();
  let changes = 0;
  const counting = (async () => {
    for (;;) {
      await next();
      changes += 1;
    }
  })().catch(() => {});
  let last = "";
  while (performance.now() - startedAt < 1000) last = await submit();
  const seconds = (performance.now() - startedAt) / 1000;
  expect(first.jobs).toHaveLength(200);
  expect(changes).toBeGreaterThan(1);
  expect(changes).toBeLessThanOrEqual(10 * seconds + 1);
  expect(last).not.toBe("");
  for (const close of closers) close();
  await counting;
});

test("[workers.no-machine] the explanation of the number of workers says that no machine fits", async () => {
  await start({ seed: { endpoints: [{ ...ENDPOINT, gpuCount: 9 }] } });
  await submit();
  const scalingOf = async () => (await nextWith(await follow(), "endpoints")).endpoints[0]?.scaling;
  expect(await scalingOf()).toBe("wanted 1 = 1 for the first of 1 waiting, at most 1, but no machine fits");
  emulator.endpoints.change("chat", { gpuCount: 8 });
  expect(await scalingOf()).not.toContain("machine");
});

test("the control interface shows a worker's log", async () => {
  await start({ profile: "observed", seed: { endpoints: [{ ...ENDPOINT, id: "pull" }] } });
  emulator.faults.add({ match: { endpointId: "pull" }, effect: { imagePullError: true } });
  await submit("pull");
  await clock.advance(15_000);
  const [worker] = (await callControl(emulator, "GET", "workers?endpointId=pull")).body;
  const log = await callControl(emulator, "GET", `workers/${worker.id}/log`);
  expect(log.body.lines.at(-1)).toMatchObject({
    source: "system",
    line: expect.stringMatching(/^error pulling image/),
  });
  expect((await callControl(emulator, "GET", "workers/none/log")).status).toBe(404);
});
