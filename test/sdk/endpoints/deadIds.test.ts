import { type Emulated, type EmulatedOptions, startEmulated } from "../../support/emulated";

const PLACES = ["EU-RO-1", "EU-CZ-1"];
const WORKERS = { workersMin: 1, workersMax: 3 };
const INPUT = { id: "e1", name: "llama", gpuIds: "AMPERE_24", templateId: "t", idleTimeout: 77, ...WORKERS } as const;

/** Starts an endpoint with one worker. The test deletes what the endpoint uses. */
async function start(options: EmulatedOptions["emulator"] = {}, volumes: readonly string[] = ["v1"]) {
  // Only the observed service accepts a save without a template.
  const service = await startEmulated({ emulator: { profile: "observed", drainMs: 20_000, ...options } });
  service.emulator.templates.create({ id: "t", name: "t", imageName: "i" });
  volumes.forEach((id, index) => {
    service.emulator.volumes.create({ id, name: id, size: 10, dataCenterId: PLACES[index] ?? "" });
  });
  const [networkVolumeId, second] = volumes;
  const several = volumes.map((id) => ({ networkVolumeId: id }));
  service.emulator.endpoints.create({ ...INPUT, ...(second ? { networkVolumeIds: several } : { networkVolumeId }) });
  await service.clock.advance(1_000);
  return service;
}

function saves({ emulator }: Emulated) {
  const requests = emulator.journal.requests({ operation: "saveEndpoint" });
  return requests.map(({ arguments: { input } }) => input as Record<string, unknown>);
}

const DELETED: readonly [string, (service: Emulated) => void][] = [
  ["volume", ({ emulator }) => emulator.volumes.delete("v1")],
  ["template", ({ emulator }) => emulator.templates.delete("t")],
  [
    "template and volume",
    ({ emulator }) => {
      emulator.volumes.delete("v1");
      emulator.templates.delete("t");
    },
  ],
];

describe.each(DELETED)("an endpoint whose %s was deleted", (what, removeUsed) => {
  test("an endpoint is scaled to zero without the ids of deleted records, and deleted once its workers have stopped", async () => {
    await using service = await start();
    removeUsed(service);
    const phases: string[] = [];
    const deletion = service.client.endpoints.delete("e1", {
      onProgress: ({ phase, activePods }) => phases.push(`${phase} ${activePods}`),
    });
    await service.run(deletion);
    expect(service.emulator.endpoints.get("e1")).toBeUndefined();
    expect(phases).toContain("draining 1");
    const sent = saves(service);
    expect(sent[0]).toMatchObject({ templateId: "t", networkVolumeId: "v1" });
    const accepted = sent.at(-1);
    expect(accepted).toMatchObject({ id: "e1", name: "llama", idleTimeout: 77, workersMin: 0, workersMax: 0 });
    for (const id of ["networkVolumeId", "networkVolumeIds"]) expect(accepted).not.toHaveProperty(id);
    expect(sent).toHaveLength(what === "volume" ? 2 : 3);
  });

  test("an endpoint gets its workers back after a deletion that timed out, and keeps its ids", async () => {
    await using service = await start({ drainMs: 3_600_000 });
    removeUsed(service);
    const error = await service.failure(service.client.endpoints.delete("e1", { drainTimeoutMs: 60_000 }));
    expect(error).toMatchObject({ code: "DELETE_TIMEOUT" });
    expect(error.message).toMatch(/^endpoint e1 is in service and billed again, with workersMin 1 and workersMax 3, /);
    expect(service.emulator.endpoints.get("e1")).toMatchObject({ ...INPUT, networkVolumeId: "v1" });
  });

  test("an endpoint can be scaled to zero and recycled", async () => {
    await using service = await start({ drainMs: 0 });
    removeUsed(service);
    await service.run(service.client.endpoints.recycleWorkers("e1", WORKERS));
    expect(service.emulator.endpoints.get("e1")).toMatchObject(WORKERS);
    await service.run(service.client.endpoints.scaleToZero("e1"));
    expect(service.emulator.endpoints.get("e1")).toMatchObject({ workersMin: 0, workersMax: 0, networkVolumeId: "v1" });
  });
});

test("an endpoint with two volumes, one of which no longer exists, is deleted", async () => {
  await using service = await start({}, ["v1", "v2"]);
  service.emulator.volumes.delete("v2");
  await service.run(service.client.endpoints.delete("e1"));
  expect(service.emulator.endpoints.get("e1")).toBeUndefined();
});

test.each([
  "contract",
  "observed",
] as const)("a volume that no longer exists causes no problem in the %s profile", async (profile) => {
  await using service = await start({ profile });
  service.emulator.volumes.delete("v1");
  await service.run(service.client.endpoints.delete("e1"));
  expect(service.emulator.endpoints.get("e1")).toBeUndefined();
});

test("REST v2 sends only the worker counts, so ids of deleted records do not matter", async () => {
  await using service = await startEmulated({ emulator: { drainMs: 20_000 }, client: { api: "v2" } });
  service.emulator.volumes.create({ id: "v1", name: "v1", size: 10, dataCenterId: "EU-RO-1" });
  service.emulator.endpoints.create({ ...INPUT, networkVolumeId: "v1" });
  await service.clock.advance(1_000);
  service.emulator.volumes.delete("v1");
  const phases: string[] = [];
  await service.run(service.client.endpoints.delete("e1", { onProgress: ({ phase }) => phases.push(phase) }));
  expect(phases).toContain("draining");
  expect(service.emulator.endpoints.get("e1")).toBeUndefined();
});

test("a save that is refused for another reason fails with the first refusal", async () => {
  await using service = await start();
  for (const message of ["the first reason", "the second reason", "the third reason"]) {
    const effect = { graphqlError: { message, code: "RUNPOD" } };
    service.emulator.faults.add({ match: { operation: "saveEndpoint" }, effect, times: 1 });
  }
  const error = await service.failure(service.client.endpoints.delete("e1"));
  expect(error.message).toContain("the first reason");
  expect(service.emulator.endpoints.get("e1")).toMatchObject(WORKERS);
});

test("a save that is refused after a lost response may have taken effect, so the workers are restored", async () => {
  await using service = await start({}, []);
  const match = { operation: "saveEndpoint" };
  const refusal = { graphqlError: { message: "no", code: "RUNPOD" } };
  for (const effect of [refusal, { reset: true, when: "after" }, refusal] as const) {
    service.emulator.faults.add({ match, effect, times: 1 });
  }
  const error = await service.failure(service.client.endpoints.delete("e1"));
  expect(error.message).toMatch(/^endpoint e1 is in service and billed again/);
  expect(service.emulator.endpoints.get("e1")).toMatchObject(WORKERS);
});

test("a repeated save whose response is lost is assumed to have been sent, so the workers are restored", async () => {
  await using service = await start();
  service.emulator.volumes.delete("v1");
  const match = { operation: "saveEndpoint" };
  service.emulator.faults.add({ match, effect: {}, times: 1 });
  service.emulator.faults.add({ match, effect: { reset: true, when: "after" }, times: 6 });
  const error = await service.failure(service.client.endpoints.delete("e1"));
  expect(error.message).toMatch(/^endpoint e1 is in service and billed again/);
  expect(service.emulator.endpoints.get("e1")).toMatchObject({ ...WORKERS, networkVolumeId: "v1" });
});

describe("at a service whose saves must name a template that exists", () => {
  /** Starts an endpoint whose template, the only one, was deleted. */
  async function startContract(options: EmulatedOptions["emulator"] = {}) {
    const service = await startEmulated({ emulator: { profile: "contract", drainMs: 20_000, ...options } });
    service.emulator.templates.create({ id: "t", name: "t", imageName: "i" });
    service.emulator.volumes.create({ id: "v1", name: "v1", size: 10, dataCenterId: "EU-RO-1" });
    service.emulator.endpoints.create({ ...INPUT, networkVolumeId: "v1" });
    await service.clock.advance(1_000);
    return service;
  }

  test.each(
    DELETED.filter(([what]) => what.startsWith("template")),
  )("an endpoint whose %s was deleted gets a new template, which is deleted with the endpoint", async (_what, removeUsed) => {
    await using service = await startContract();
    removeUsed(service);
    await service.run(service.client.endpoints.delete("e1"));
    expect(service.emulator.endpoints.get("e1")).toBeUndefined();
    expect(saves(service).at(-1)).toMatchObject({ workersMin: 0, workersMax: 0 });
    expect(service.emulator.templates.list()).toEqual([]);
  });

  test("a template that belongs to someone else is never used", async () => {
    await using service = await startContract();
    service.emulator.templates.create({ id: "other", name: "other", imageName: "i" });
    service.emulator.templates.delete("t");
    await service.run(service.client.endpoints.delete("e1"));
    expect(service.emulator.endpoints.get("e1")).toBeUndefined();
    expect(saves(service).map(({ templateId }) => templateId)).not.toContain("other");
    expect(service.emulator.templates.list().map(({ id }) => id)).toEqual(["other"]);
  });

  test("a failed deletion leaves the endpoint at zero workers, and the next deletion removes it and its template", async () => {
    await using service = await startContract();
    service.emulator.templates.delete("t");
    const refusal = { message: "its workers are still leaving", code: "RUNPOD" };
    const rule = service.emulator.faults.add({
      match: { operation: "deleteEndpoint" },
      effect: { graphqlError: refusal },
    });
    let isBack = false;
    const error = await service.failure(
      service.client.endpoints.delete("e1", {
        drainTimeoutMs: 30_000,
        templateId: "t",
        onPutBack: () => {
          isBack = true;
        },
      }),
    );
    expect(error.message).toMatch(
      /^endpoint e1 was scaled to zero, and is not billed once its workers have stopped\. They were not restored, because its template was not found/,
    );
    expect(isBack).toBe(true);
    expect(service.emulator.endpoints.get("e1")).toMatchObject({ workersMin: 0, workersMax: 0 });
    service.emulator.faults.remove(rule.id);
    await service.run(service.client.endpoints.delete("e1", { templateId: "t" }));
    expect(service.emulator.endpoints.get("e1")).toBeUndefined();
    expect(service.emulator.templates.list()).toEqual([]);
  });

  test("if a new template does not resolve a refusal, the refusal is reported and no template is left behind", async () => {
    await using service = await startContract();
    service.emulator.templates.delete("t");
    const refusal = { message: "Unable to find template", code: "RUNPOD" };
    service.emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: { graphqlError: refusal } });
    const error = await service.failure(service.client.endpoints.delete("e1"));
    expect(error.message).toContain("Unable to find template");
    expect(service.emulator.endpoints.get("e1")).toMatchObject(WORKERS);
    expect(service.emulator.templates.list()).toEqual([]);
  });
});
