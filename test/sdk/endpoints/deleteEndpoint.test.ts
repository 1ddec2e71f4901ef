import type { DeleteProgress } from "../../../sdk/endpoints/deleteOptions";
import { AuthenticationError, RejectedError } from "../../../sdk/errors/errors";
import { type Emulated, startEmulated } from "../../support/emulated";

const INPUT = { name: "llama", gpuIds: "AMPERE_24", templateId: "abc123" } as const;

/** The calls so far, a run of the same one written once. */
function steps({ calls }: Emulated): string[] {
  return calls().filter((call, index, all) => call !== all[index - 1]);
}

describe("a deletion", () => {
  test("a deletion scales to zero, lists until the pods have stopped, deletes the endpoint, and verifies that the endpoint is gone [contract.delete-endpoint] [contract.endpoint-pods]", async () => {
    await using service = await startEmulated({ emulator: { drainMs: 20_000 } });
    const { id } = service.emulator.endpoints.create({ ...INPUT, workersMin: 2 });
    await service.clock.advance(1_000);
    const progress: DeleteProgress[] = [];
    await service.run(service.client.endpoints.delete(id, { onProgress: (each) => progress.push(each) }));
    expect(steps(service)).toEqual(["myself", "saveEndpoint", "myself", "deleteEndpoint", "myself"]);
    expect(service.emulator.journal.operations({ operation: "saveEndpoint" })).toHaveLength(1);
    const [save] = service.emulator.journal.requests({ operation: "saveEndpoint" });
    expect(save?.arguments.input).toMatchObject({ id, ...INPUT, workersMin: 0, workersMax: 0, idleTimeout: 10 });
    expect(service.emulator.endpoints.get(id)).toBeUndefined();

    const phases = progress.map(({ phase }) => phase).filter((phase, index, all) => phase !== all[index - 1]);
    expect(phases).toEqual(["scaling to zero", "draining", "deleting", "proving gone"]);
    const draining = progress.filter(({ phase }) => phase === "draining");
    expect(draining.every(({ activePods }) => activePods === 2)).toBe(true);
    expect(draining.at(-1)?.elapsedMs).toBeGreaterThan(10_000);
  });

  test.each([
    "graphql",
    "v2",
  ] as const)("deletions of idle endpoints over %s share the lists that are read before and after them", async (api) => {
    await using service = await startEmulated({ client: { api } });
    const ids = Array.from({ length: 8 }, (_, i) => service.emulator.endpoints.create({ ...INPUT, name: `e${i}` }).id);
    await service.run(Promise.all(ids.map((id) => service.client.endpoints.delete(id))));
    expect(service.emulator.endpoints.list()).toEqual([]);
    const many = (call: string) => ids.map(() => call);
    const [list, save, workers] =
      api === "v2" ? ["listEndpoints", "updateEndpoint", many("listWorkers")] : ["myself", "saveEndpoint", []];
    expect(service.calls().sort()).toEqual([list, ...many(save), ...workers, ...many("deleteEndpoint"), list].sort());
  });

  test("a deletion of an endpoint without workers needs three calls", async () => {
    await using service = await startEmulated();
    const { id } = service.emulator.endpoints.create({ ...INPUT, workersMax: 0 });
    await service.run(service.client.endpoints.delete(id));
    expect(service.calls()).toEqual(["myself", "deleteEndpoint", "myself"]);
  });

  test("a deletion is sent even if the endpoint does not exist, and a not-found response counts as success", async () => {
    await using service = await startEmulated();
    await service.run(service.client.endpoints.delete("nowhere"));
    // The contract has no single read.
    expect(service.calls()).toEqual(["myself", "myself", "deleteEndpoint", "myself"]);
  });

  test("a deletion finds an endpoint that is not in a lagging list yet", async () => {
    await using service = await startEmulated();
    const { id } = service.emulator.endpoints.create(INPUT);
    service.emulator.faults.add({ match: { operation: "myself" }, effect: { listLagMs: 4_000 } });
    await service.run(service.client.endpoints.delete(id));
    expect(service.emulator.endpoints.get(id)).toBeUndefined();
  });

  test("a deletion scales to zero only once while the list lags", async () => {
    await using service = await startEmulated();
    const { id } = service.emulator.endpoints.create(INPUT);
    await service.clock.advance(60_000);
    service.emulator.faults.add({ match: { operation: "myself" }, effect: { listLagMs: 4_900 } });
    await service.run(service.client.endpoints.delete(id));
    expect(service.emulator.endpoints.get(id)).toBeUndefined();
    expect(service.emulator.journal.operations({ operation: "saveEndpoint" })).toHaveLength(1);
    expect(service.calls().length).toBeLessThan(12);
  });

  test("workers that a list has shown must disappear from a list, whatever the save to zero returns", async () => {
    await using service = await startEmulated({ emulator: { drainMs: 20_000 } });
    const { id } = service.emulator.endpoints.create({ ...INPUT, workersMin: 1 });
    await service.clock.advance(1_000);
    const { createdAt, ...endpoint } = service.emulator.endpoints.get(id) ?? {};
    const body = { data: { saveEndpoint: { ...endpoint, workersMin: 0, workersMax: 0, pods: [] } } };
    const effect = { status: 200, body, when: "after" } as const;
    service.emulator.faults.add({ match: { operation: "saveEndpoint" }, effect, times: 1 });
    await service.run(service.client.endpoints.delete(id));
    expect(steps(service)).toEqual(["myself", "saveEndpoint", "myself", "deleteEndpoint", "myself"]);
    expect(service.emulator.journal.operations({ operation: "deleteEndpoint" })).toHaveLength(1);
    expect(service.emulator.endpoints.get(id)).toBeUndefined();
  });

  test("over v2, nothing is deleted while it is unknown whether workers are running", async () => {
    await using service = await startEmulated({ client: { api: "v2" }, emulator: { drainMs: 20_000 } });
    const { id } = service.emulator.endpoints.create({ ...INPUT, workersMin: 1 });
    await service.clock.advance(1_000);
    service.emulator.faults.add({ match: { operation: "listWorkers" }, effect: { status: 403 } });
    await service.failure(service.client.endpoints.delete(id));
    expect(service.calls()).not.toContain("deleteEndpoint");
    expect(service.emulator.endpoints.get(id)).toBeDefined();
  });

  test("a deletion scales to zero again when someone scales up in the meantime", async () => {
    await using service = await startEmulated({ emulator: { drainMs: 30_000 } });
    const { id } = service.emulator.endpoints.create({ ...INPUT, workersMin: 1 });
    await service.clock.advance(1_000);
    const deletion = service.client.endpoints.delete(id);
    await service.clock.advance(10_000);
    service.emulator.endpoints.change(id, { workersMin: 1, workersMax: 1 });
    await service.run(deletion);
    expect(service.emulator.journal.operations({ operation: "saveEndpoint" })).toHaveLength(2);
    expect(service.emulator.endpoints.get(id)).toBeUndefined();
  });

  test("a refused deletion is repeated until the service accepts it", async () => {
    await using service = await startEmulated();
    const { id } = service.emulator.endpoints.create(INPUT);
    const refusal = { message: "workers are still leaving", code: "RUNPOD" };
    service.emulator.faults.add({
      match: { operation: "deleteEndpoint" },
      effect: { graphqlError: refusal },
      times: 3,
    });
    await service.run(service.client.endpoints.delete(id));
    expect(service.emulator.journal.operations({ operation: "deleteEndpoint" })).toHaveLength(4);
    expect(service.emulator.endpoints.get(id)).toBeUndefined();
  });

  test("a deletion whose response was lost is completed when a not-found response proves it", async () => {
    await using service = await startEmulated();
    const { id } = service.emulator.endpoints.create({ ...INPUT, workersMax: 0 });
    service.emulator.faults.add({
      match: { operation: "deleteEndpoint" },
      effect: { reset: true, when: "after" },
      times: 1,
    });
    await service.run(service.client.endpoints.delete(id));
    expect(service.emulator.journal.operations({ operation: "deleteEndpoint" })).toHaveLength(2);
  });

  test("a deletion does not accept a not-found response as success while the endpoint is listed", async () => {
    await using service = await startEmulated();
    const { id } = service.emulator.endpoints.create({ ...INPUT, workersMax: 0 });
    const lie = { message: "a free slot could not find its way", code: "RUNPOD" };
    service.emulator.faults.add({ match: { operation: "deleteEndpoint" }, effect: { graphqlError: lie }, times: 1 });
    await service.run(service.client.endpoints.delete(id));
    expect(service.emulator.endpoints.get(id)).toBeUndefined();
    expect(service.emulator.journal.operations({ operation: "deleteEndpoint" })).toHaveLength(2);
  });

  test("a deletion is not misled by an endpoint's name in the service's refusal", async () => {
    await using service = await startEmulated();
    const { id } = service.emulator.endpoints.create({ ...INPUT, workersMax: 0 });
    const refusal = { message: `Endpoint "not found" (${id}) still has workers`, code: "RUNPOD" };
    service.emulator.faults.add({ match: { operation: "deleteEndpoint" }, effect: { graphqlError: refusal } });
    const error = await service.failure(service.client.endpoints.delete(id, { drainTimeoutMs: 20_000 }));
    expect(error).toMatchObject({ code: "DELETE_TIMEOUT" });
  });

  test("a deletion continues when the endpoint was deleted elsewhere between the list and the scale to zero", async () => {
    await using service = await startEmulated();
    const { id } = service.emulator.endpoints.create(INPUT);
    await service.clock.advance(60_000);
    service.emulator.endpoints.delete(id);
    service.emulator.faults.add({ match: { operation: "myself" }, effect: { listLagMs: 3_000 } });
    await service.run(service.client.endpoints.delete(id));
    expect(steps(service)).toEqual(["myself", "saveEndpoint", "myself", "deleteEndpoint", "myself"]);
  });

  test("a deletion counts as proven by the list, even if the list lags", async () => {
    await using service = await startEmulated();
    const { id } = service.emulator.endpoints.create({ ...INPUT, workersMax: 0 });
    await service.clock.advance(60_000);
    service.emulator.faults.add({ match: { operation: "myself" }, effect: { listLagMs: 4_900 } });
    await service.run(service.client.endpoints.delete(id));
    expect(service.calls()).toEqual(["myself", "deleteEndpoint", "myself", "myself"]);
  });
});

describe("a deletion that cannot end", () => {
  test("a deletion that cannot end gives up with advice when the workers do not stop in time", async () => {
    await using service = await startEmulated({ emulator: { drainMs: 3_600_000 } });
    const { id } = service.emulator.endpoints.create({ ...INPUT, workersMin: 2 });
    await service.clock.advance(1_000);
    const startedAt = service.clock.now();
    const error = await service.failure(service.client.endpoints.delete(id, { drainTimeoutMs: 60_000 }));
    expect(error).toMatchObject({ code: "DELETE_TIMEOUT" });
    expect(error).toMatchObject({ code: "DELETE_TIMEOUT", disposition: "wait" });
    expect(error.message).toMatch(
      /is in service and billed again.*not deleted within 60 s: 2 of its workers still run. It still exists. /,
    );
    expect(service.calls()).not.toContain("deleteEndpoint");
    const tookMs = service.clock.now() - startedAt;
    expect(tookMs).toBeGreaterThanOrEqual(60_000);
    expect(tookMs).toBeLessThanOrEqual(60_200);
  });

  test("a deletion that cannot end waits ten minutes by default, with pauses that grow to ten seconds", async () => {
    await using service = await startEmulated({ emulator: { drainMs: 3_600_000 } });
    const { id } = service.emulator.endpoints.create({ ...INPUT, workersMin: 1 });
    await service.clock.advance(1_000);
    const error = await service.failure(service.client.endpoints.delete(id));
    expect(error.message).toMatch(/within 600 s/);
    expect(service.calls().length).toBeLessThan(80);
  });

  test.each([
    400, 403,
  ])("a deletion that cannot end fails at once when the service refuses the request itself with %i", async (status) => {
    await using service = await startEmulated();
    const { id } = service.emulator.endpoints.create(INPUT);
    service.emulator.faults.add({ match: { operation: "deleteEndpoint" }, effect: { status } });
    expect(await service.failure(service.client.endpoints.delete(id))).toMatchObject({ code: "REJECTED" });
    expect(service.calls().filter((operation) => operation === "deleteEndpoint")).toHaveLength(1);
  });

  test("a deletion that cannot end gives up with the service's reason when the service keeps refusing", async () => {
    await using service = await startEmulated();
    const { id } = service.emulator.endpoints.create({ ...INPUT, workersMax: 0 });
    const refusal = { message: "a lock is held", code: "RUNPOD" };
    service.emulator.faults.add({ match: { operation: "deleteEndpoint" }, effect: { graphqlError: refusal } });
    const error = await service.failure(service.client.endpoints.delete(id, { drainTimeoutMs: 60_000 }));
    expect(error).toMatchObject({ code: "DELETE_TIMEOUT" });
    expect(error.message).toContain("a lock is held");
  });

  test("a deletion that cannot end gives up when the endpoint does not stay at zero", async () => {
    await using service = await startEmulated();
    const { id } = service.emulator.endpoints.create(INPUT);
    const scaleUp = () => service.emulator.endpoints.change(id, { workersMax: 1 });
    const options = {
      drainTimeoutMs: 30_000,
      onProgress: ({ phase }: DeleteProgress) => phase === "deleting" && scaleUp(),
    };
    const error = await service.failure(service.client.endpoints.delete(id, options));
    expect(error).toMatchObject({ code: "DELETE_TIMEOUT" });
    expect(error.message).toMatch(/It still exists\. /);
    expect(service.emulator.endpoints.get(id)).toBeDefined();
    expect(service.calls().length).toBeLessThan(40);
  });

  test.each([
    7_000, 12_000, 25_000,
  ])("a deletion that cannot end ends with one save if lists are %d ms old", async (listLagMs) => {
    await using service = await startEmulated();
    const { id } = service.emulator.endpoints.create(INPUT);
    await service.clock.advance(120_000);
    service.emulator.faults.add({ match: { operation: "myself" }, effect: { listLagMs } });
    await service.run(service.client.endpoints.delete(id));
    expect(service.emulator.endpoints.list()).toEqual([]);
    expect(service.calls().filter((call) => call === "saveEndpoint")).toHaveLength(1);
  });

  test("a deletion that cannot end does not claim that the endpoint exists if its deletion was accepted but the list still shows it", async () => {
    await using service = await startEmulated();
    const { id } = service.emulator.endpoints.create({ ...INPUT, workersMax: 0 });
    await service.clock.advance(120_000);
    service.emulator.faults.add({ match: { operation: "myself" }, effect: { listLagMs: 60_000 } });
    const error = await service.failure(service.client.endpoints.delete(id, { drainTimeoutMs: 5_000 }));
    expect(error).toMatchObject({ code: "DELETE_TIMEOUT" });
    expect(error.message).toMatch(/still lists it\. It may still exist\. /);
  });

  test("a deletion that cannot end does not say whether the endpoint exists if the service reports it as not found but still lists it", async () => {
    await using service = await startEmulated();
    const { id } = service.emulator.endpoints.create({ ...INPUT, workersMax: 0 });
    const lie = { message: "endpoint not found", code: "RUNPOD" };
    service.emulator.faults.add({ match: { operation: "deleteEndpoint" }, effect: { graphqlError: lie } });
    const error = await service.failure(service.client.endpoints.delete(id, { drainTimeoutMs: 20_000 }));
    expect(error).toMatchObject({ code: "DELETE_TIMEOUT" });
    expect(error.message).toMatch(/reports that it does not exist, but still lists it\. It may still exist\. /);
  });

  test("a deletion that cannot end does not claim that an endpoint exists that it never saw", async () => {
    await using service = await startEmulated();
    service.emulator.endpoints.create(INPUT);
    const refusal = { message: "try again later", code: "RUNPOD" };
    service.emulator.faults.add({ match: { operation: "deleteEndpoint" }, effect: { graphqlError: refusal } });
    const error = await service.failure(service.client.endpoints.delete("gone", { drainTimeoutMs: 20_000 }));
    expect(error).toMatchObject({ code: "DELETE_TIMEOUT" });
    expect(error.message).toMatch(/says "try again later"\. It may still exist\. /);
  });

  test("a deletion that cannot end fails at once when the service refuses the scale to zero or the key", async () => {
    await using service = await startEmulated();
    const { id } = service.emulator.endpoints.create(INPUT);
    const refusal = { message: "this template is retired", code: "RUNPOD" };
    service.emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: { graphqlError: refusal }, times: 1 });
    expect(await service.failure(service.client.endpoints.delete(id))).toBeInstanceOf(RejectedError);
    service.emulator.faults.add({ match: { operation: "deleteEndpoint" }, effect: { status: 401 } });
    expect(await service.failure(service.client.endpoints.delete(id))).toBeInstanceOf(AuthenticationError);
    expect(service.emulator.endpoints.get(id)).toBeDefined();
  });

  test("a deletion that cannot end never treats a missing account or an invalid list as a deleted endpoint", async () => {
    await using service = await startEmulated();
    const { id } = service.emulator.endpoints.create(INPUT);
    service.emulator.faults.add({ match: { operation: "myself" }, effect: { nullAccount: true }, times: 1 });
    expect(await service.failure(service.client.endpoints.delete(id))).toBeInstanceOf(AuthenticationError);
    service.emulator.faults.add({ match: { operation: "myself" }, effect: { status: 503 } });
    expect((await service.failure(service.client.endpoints.delete(id))).message).toMatch(/given up after 6 attempts/);
    expect(service.calls()).not.toContain("deleteEndpoint");
  });
});
