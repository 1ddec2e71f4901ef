import { RejectedError } from "../../../sdk/errors/errors";
import { type Emulated, startEmulated } from "../../support/emulated";

const WORKERS = { workersMin: 1, workersMax: 4 };
const AT_ZERO = { workersMin: 0, workersMax: 0 };
const INPUT = { id: "e1", name: "llama", gpuIds: "AMPERE_24", templateId: "t", idleTimeout: 77 } as const;
const RUNS = /^endpoint e1 is in service and billed again, with workersMin 1 and workersMax 4, /;
const LONG = { drainTimeoutMs: 60_000 };
const REFUSAL = { graphqlError: { message: "this template is retired", code: "RUNPOD" } };

/** Starts an endpoint whose worker never stops. */
async function startBusy(api: "graphql" | "v2" = "graphql", workers = WORKERS) {
  const service = await startEmulated({ emulator: { drainMs: 3_600_000 }, client: { api } });
  service.emulator.endpoints.create({ ...INPUT, ...workers });
  await service.clock.advance(1_000);
  return service;
}

/** The numbers of workers that the service has. */
function workersAt({ emulator }: Emulated) {
  const { workersMin, workersMax } = emulator.endpoints.get("e1") ?? {};
  return { workersMin, workersMax };
}

/** Lets the save that scales to zero pass, and gives all later ones the effect. */
function failSecondSave({ emulator }: Emulated, effect: object) {
  const match = { operation: "saveEndpoint" };
  emulator.faults.add({ match, effect: {}, times: 1 });
  emulator.faults.add({ match, effect });
}

test.each([
  "graphql",
  "v2",
] as const)("over %s, a deletion that times out restores the workers, and reports their counts before its first save", async (api) => {
  await using service = await startBusy(api);
  const reports: unknown[] = [];
  const deletion = service.client.endpoints.delete("e1", {
    ...LONG,
    onScaleDown: (counts) => reports.push({ ...counts, now: workersAt(service) }),
    onPutBack: () => reports.push(workersAt(service)),
  });
  const error = await service.failure(deletion);
  expect(error).toMatchObject({ code: "DELETE_TIMEOUT" });
  expect(error.message).toMatch(RUNS);
  expect(reports).toEqual([{ ...WORKERS, now: WORKERS }, WORKERS]);
  expect(service.emulator.endpoints.get("e1")).toMatchObject({ ...WORKERS, idleTimeout: 77 });
});

test.each(["graphql", "v2"] as const)("over %s, an aborted deletion restores the workers", async (api) => {
  await using service = await startBusy(api);
  const controller = new AbortController();
  const failing = service.failure(
    service.client.endpoints.delete("e1", {
      signal: controller.signal,
      onProgress: ({ phase }) => phase === "draining" && controller.abort(new Error("the user has had enough")),
    }),
  );
  const error = await failing;
  expect(error).toMatchObject({ code: "INTERRUPTED" });
  expect(error.message).toMatch(RUNS);
  expect(error.message).toContain("the user has had enough");
  expect(workersAt(service)).toEqual(WORKERS);
});

test("an abort during the save that scales to zero restores the workers", async () => {
  await using service = await startBusy();
  service.emulator.faults.add({
    match: { operation: "saveEndpoint" },
    effect: { hang: true, when: "after" },
    times: 1,
  });
  const controller = new AbortController();
  const failing = service.failure(service.client.endpoints.delete("e1", { signal: controller.signal }));
  service.clock.schedule(2_000, () => controller.abort());
  expect((await failing).message).toMatch(RUNS);
  expect(workersAt(service)).toEqual(WORKERS);
});

test("a deletion that the service refuses restores the workers and throws the service's error", async () => {
  await using service = await startEmulated();
  service.emulator.endpoints.create({ ...INPUT, ...WORKERS });
  service.emulator.faults.add({ match: { operation: "deleteEndpoint" }, effect: { status: 403 } });
  const error = await service.failure(service.client.endpoints.delete("e1"));
  expect(error).toBeInstanceOf(RejectedError);
  expect(error.message).toMatch(RUNS);
  expect(workersAt(service)).toEqual(WORKERS);
});

const COUNTS = "its deletion failed, and workersMin 1 and workersMax 4";

test.each([
  ["is refused is reported as scaled to zero", REFUSAL, `is still scaled to zero: ${COUNTS} could not be restored: `],
  [
    "has no response is reported as possibly scaled to zero",
    { reset: true, when: "before" },
    `may be scaled to zero: ${COUNTS} may not have been restored: `,
  ],
])("an endpoint whose restore %s", async (_what, effect, message) => {
  await using service = await startBusy();
  failSecondSave(service, effect);
  let isBack = false;
  const onPutBack = () => {
    isBack = true;
  };
  const error = await service.failure(service.client.endpoints.delete("e1", { ...LONG, onPutBack }));
  expect(error).toMatchObject({ code: "DELETE_TIMEOUT" });
  expect(error.message).toContain(`endpoint e1 ${message}`);
  expect(isBack).toBe(false);
  expect(workersAt(service)).toEqual(AT_ZERO);
});

test("an endpoint that someone else scales during the deletion's last wait keeps the new worker counts", async () => {
  await using service = await startBusy();
  service.emulator.faults.add({ match: { operation: "myself" }, effect: {}, times: 2 });
  service.emulator.faults.add({ match: { operation: "myself" }, effect: { status: 403 }, times: 1 });
  const failing = service.failure(service.client.endpoints.delete("e1"));
  while (workersAt(service).workersMax !== 0) await new Promise((resolve) => setTimeout(resolve, 5));
  service.emulator.endpoints.change("e1", { workersMin: 0, workersMax: 9 });
  expect((await failing).message).toMatch(/is in service and billed again, with workersMin 0 and workersMax 9/);
  expect(workersAt(service)).toEqual({ workersMin: 0, workersMax: 9 });
});

test("deleting an endpoint that an earlier deletion left at zero restores the worker counts that the caller passes", async () => {
  await using service = await startBusy();
  service.emulator.endpoints.change("e1", AT_ZERO);
  const unknown = await service.failure(service.client.endpoints.delete("e1", LONG));
  expect(unknown.message).toMatch(/It still exists, and is still scaled to zero/);
  expect(workersAt(service)).toEqual(AT_ZERO);
  expect((await service.failure(service.client.endpoints.delete("e1", { ...LONG, workers: WORKERS }))).message).toMatch(
    RUNS,
  );
  expect(workersAt(service)).toEqual(WORKERS);
});

test("a deletion whose scale-down is refused changes nothing and reports the refusal", async () => {
  await using service = await startBusy();
  service.emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: REFUSAL });
  let isBack = false;
  const onPutBack = () => {
    isBack = true;
  };
  const error = await service.failure(service.client.endpoints.delete("e1", { onPutBack }));
  expect(error.message).toMatch(/^saveEndpoint of "llama".*retired/);
  expect(isBack).toBe(true);
  // The second one leaves out what may have been deleted under the endpoint.
  expect(service.emulator.journal.operations({ operation: "saveEndpoint" })).toHaveLength(2);
});

test("a scale-down whose responses are all lost is undone, even if the list still shows the workers", async () => {
  await using service = await startBusy();
  await service.clock.advance(60_000);
  service.emulator.faults.add({ match: { operation: "myself" }, effect: { listLagMs: 60_000 } });
  service.emulator.faults.add({
    match: { operation: "saveEndpoint" },
    effect: { reset: true, when: "after" },
    times: 6,
  });
  expect((await service.failure(service.client.endpoints.delete("e1"))).message).toMatch(RUNS);
  expect(workersAt(service)).toEqual(WORKERS);
});

test("a deletion that succeeded although its responses were lost is reported as done", async () => {
  await using service = await startEmulated();
  service.emulator.endpoints.create({ ...INPUT, ...WORKERS });
  const match = { operation: "deleteEndpoint" };
  service.emulator.faults.add({ match, effect: { reset: true, when: "after" }, times: 1 });
  service.emulator.faults.add({ match, effect: { reset: true, when: "before" } });
  await service.run(service.client.endpoints.delete("e1"));
  expect(service.emulator.endpoints.list()).toEqual([]);
});

test("a recycle that fails while waiting restores the workers", async () => {
  await using service = await startBusy();
  service.emulator.faults.add({ match: { operation: "myself" }, effect: {}, times: 2 });
  service.emulator.faults.add({ match: { operation: "myself" }, effect: { status: 403 }, times: 1 });
  const reports: unknown[] = [];
  const recycling = service.client.endpoints.recycleWorkers("e1", WORKERS, {
    onScaleDown: (counts) => reports.push(counts),
    onPutBack: () => reports.push("back"),
  });
  const error = await service.failure(recycling);
  expect(error).toBeInstanceOf(RejectedError);
  expect(error.message).toMatch(RUNS);
  expect(reports).toEqual([WORKERS, "back"]);
  expect(workersAt(service)).toEqual(WORKERS);
});
