import {
  AuthenticationError,
  CreateUncertainError,
  NameTakenError,
  NotFoundError,
  UnexpectedResponseError,
} from "../../../sdk/errors";
import type { WarningEvent } from "../../../sdk/transport/observers";
import { CANARY, type Emulated, type EmulatedOptions, startEmulated } from "../../support/emulated";

const INPUT = { name: "llama", gpuIds: ["AMPERE_24"], templateId: "abc123", workersMax: 0 } as const;

/** Starts an account with some endpoints: `e0` is the oldest. Their ids are in the same order. */
async function withEndpoints(count: number, options: EmulatedOptions = {}) {
  const warnings: WarningEvent[] = [];
  const emulated = await startEmulated({
    emulator: { profile: "observed", ...options.emulator },
    client: { onWarning: (event) => warnings.push(event), ...options.client },
  });
  const saves = Array.from(
    { length: count },
    (_, each) =>
      `a${each}: saveEndpoint(input: { name: "e${each}", gpuIds: "AMPERE_24", templateId: "abc123", workersMax: 0 }) { id }`,
  );
  for (let from = 0; from < count; from += 100) {
    const response = await fetch(`${emulated.emulator.url}/graphql?api_key=${CANARY}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query: `mutation { ${saves.slice(from, from + 100).join(" ")} }` }),
    });
    expect(response.status).toBe(200);
    await response.text();
  }
  emulated.emulator.journal.clear();
  return { it: emulated, warnings, ids: emulated.emulator.endpoints.list().map(({ id }) => id) };
}

/** Hides what is younger than ten seconds from all lists. */
function lag({ emulator }: Emulated): void {
  emulator.faults.add({ match: { operation: "myself" }, effect: { listLagMs: 10_000 } });
}

function refuseV2({ emulator }: Emulated): void {
  emulator.faults.add({ match: { operation: "listEndpoints" }, effect: { status: 403 } });
}

const named = ({ emulator }: Emulated, name: string) => emulator.endpoints.list().filter((each) => each.name === name);

test("an endpoint that a cut list hides is found, changed, recycled and deleted like any other", async () => {
  const { emulated, ids } = await withEndpoints(402);
  await using _ = emulated;
  const { endpoints } = emulated.client;
  const [id = "", other = ""] = ids.slice(400);
  expect(await emulated.run(endpoints.find(id))).toMatchObject({ id, name: "e400" });
  expect(emulated.calls()).toEqual(["myself", "myself"]);
  expect(await emulated.run(endpoints.update(id, { idleTimeout: 77 }))).toMatchObject({ id, idleTimeout: 77 });
  expect(await emulated.run(endpoints.recycleWorkers(id, { workersMin: 0, workersMax: 1 }))).toMatchObject({
    workersMax: 1,
  });
  await emulated.run(endpoints.delete(id));
  expect(await emulated.run(endpoints.find(id))).toBeUndefined();
  await emulated.run(endpoints.delete(ids[3] as string));
  expect(emulated.emulator.endpoints.list().map((each) => each.id)).toEqual(
    ids.filter((each) => each !== id && each !== ids[3]),
  );
  expect(await emulated.run(endpoints.get(other))).toMatchObject({ name: "e401" });
});

test("three hundred finds at once need one list, and what it hides is read by fifties", async () => {
  const { emulated, ids } = await withEndpoints(520);
  await using _ = emulated;
  const find = (id: string) => emulated.client.endpoints.find(id, { maxAgeMs: 60_000 });
  await emulated.run(Promise.all(ids.slice(0, 300).map(find)));
  expect(emulated.calls()).toEqual(["myself"]);
  const found = await emulated.run(Promise.all(ids.slice(400).map(find)));
  expect(found.map((each) => each?.id)).toEqual(ids.slice(400));
  expect(emulated.calls()).toHaveLength(1 + 3);
});

test("a list of all endpoints has those that the service's own list hides; without REST v2 it says that it may be cut", async () => {
  const { emulated, ids, warnings } = await withEndpoints(402);
  await using _ = emulated;
  const all = await emulated.run(emulated.client.endpoints.list());
  expect(all.map(({ id }) => id).sort()).toEqual([...ids].sort());
  expect(await emulated.run(emulated.client.endpoints.listReadable())).not.toHaveProperty("mayBeCut");
  expect(warnings).toEqual([]);
  refuseV2(emulated);
  expect(await emulated.run(emulated.client.endpoints.listReadable())).toMatchObject({ mayBeCut: true });
  await emulated.run(emulated.client.endpoints.listReadable());
  expect(warnings).toHaveLength(1);
  expect(warnings[0]?.message).toContain("the list of endpoints has 400 records or more");
  expect(emulated.calls().filter((each) => each === "listEndpoints")).toHaveLength(3);
});

test("a name that only a hidden endpoint has is taken", async () => {
  const { emulated, ids } = await withEndpoints(401);
  await using _ = emulated;
  const onNameTaken = (existing: readonly { readonly id: string }[]) => {
    const taken = existing.map(({ id }) => id);
    throw new NameTakenError(`taken by ${taken}`, taken);
  };
  const create = emulated.client.endpoints.create({ ...INPUT, name: "e400" }, { onNameTaken });
  expect(await emulated.failure(create)).toHaveProperty("message", `taken by ${ids[400]}`);
});

test("a create whose response is lost is found behind a cut list, and is one endpoint", async () => {
  const { emulated } = await withEndpoints(400);
  await using _ = emulated;
  emulated.emulator.faults.add({
    match: { operation: "saveEndpoint" },
    effect: { reset: true, when: "after" },
    times: 1,
  });
  const created = await emulated.run(emulated.client.endpoints.create(INPUT));
  expect(named(emulated, "llama").map(({ id }) => id)).toEqual([created.id]);
});

test("a create whose response is lost is sent again if no list shows it, however long the lists are", async () => {
  const { emulated } = await withEndpoints(400);
  await using _ = emulated;
  emulated.emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: { reset: true }, times: 1 });
  const created = await emulated.run(emulated.client.endpoints.create(INPUT));
  expect(named(emulated, "llama").map(({ id }) => id)).toEqual([created.id]);
});

test.each([
  "before",
  "after",
] as const)("a create whose response is lost %s it had an effect is not repeated behind a cut list without REST v2", async (when) => {
  const { emulated, warnings } = await withEndpoints(400);
  await using _ = emulated;
  refuseV2(emulated);
  emulated.emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: { reset: true, when }, times: 1 });
  const error = await emulated.failure(emulated.client.endpoints.create(INPUT));
  expect(error).toBeInstanceOf(CreateUncertainError);
  expect(error.message).toMatch(/may show only the 400 oldest.*not created again.*Look for the name in the service's/);
  expect(emulated.calls().filter((each) => each === "saveEndpoint")).toHaveLength(1);
  expect(warnings).toHaveLength(1);
  expect(await emulated.run(emulated.client.endpoints.create({ ...INPUT, name: "next" }))).toMatchObject({
    name: "next",
  });
});

test("a service without single reads is asked once, and a list of 400 then proves nothing", async () => {
  const { emulated, ids } = await withEndpoints(399, { emulator: { profile: "contract" } });
  await using _ = emulated;
  const { endpoints } = emulated.client;
  const refusals = () => emulated.emulator.journal.requests().filter(({ status }) => status === 400).length;
  expect(await emulated.run(endpoints.find("nowhere"))).toBeUndefined();
  expect(await emulated.failure(endpoints.get("nowhere"))).toBeInstanceOf(NotFoundError);
  expect(refusals()).toBe(1);
  await emulated.run(endpoints.create(INPUT));
  for (const call of [endpoints.find("x"), endpoints.update("x", { idleTimeout: 7 }), endpoints.delete("x")]) {
    const error = await emulated.failure(call);
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error.message).toContain("cannot tell whether endpoint x exists");
  }
  await emulated.run(endpoints.delete(ids[0] as string));
  expect(emulated.emulator.endpoints.list()).toHaveLength(399);
  expect(refusals()).toBe(1);
});

test.each([
  {},
  { a0: { id: "other", name: "o" } },
  { endpoint: null },
])("a response to a single read that says nothing about the id (%j) is no proof of absence", async (myself) => {
  const { emulated } = await withEndpoints(0);
  await using _ = emulated;
  const effect = { status: 200, body: { data: { myself } } };
  const { id } = await emulated.run(emulated.client.endpoints.create(INPUT));
  // The list that hides the endpoint, the odd response, and no other single read.
  emulated.emulator.faults.add({ match: { operation: "myself", nth: 2 }, effect });
  lag(emulated);
  expect(await emulated.run(emulated.client.endpoints.find(id))).toMatchObject({ id });
  expect(emulated.calls()).toEqual(["myself", "saveEndpoint", "myself", "myself", "myself", "myself"]);
});

test("a service that has answered single reads is never taken for one that refuses them", async () => {
  const { emulated } = await withEndpoints(0);
  await using _ = emulated;
  expect(await emulated.run(emulated.client.endpoints.find("gone"))).toBeUndefined();
  const effect = { status: 200, body: { data: { myself: {} } } };
  emulated.emulator.faults.add({ match: { operation: "myself", nth: 2 }, effect });
  const error = await emulated.failure(emulated.client.endpoints.find("gone"));
  expect(error).toBeInstanceOf(UnexpectedResponseError);
  expect(error.message).toContain("no answer about endpoint gone");
});

test("a service that says not found for an unknown id is understood, and other ids of the request are read", async () => {
  const { emulated, ids } = await withEndpoints(401);
  await using _ = emulated;
  const find = (id: string) => emulated.client.endpoints.find(id, { maxAgeMs: 60_000 });
  const message = 'Endpoint "gone" not found';
  emulated.emulator.faults.add({
    match: { operation: "myself", nth: 2 },
    effect: { graphqlError: { message, code: "RUNPOD" } },
  });
  const found = await emulated.run(Promise.all([find("gone"), find(ids[400] as string)]));
  expect(found.map((each) => each?.id)).toEqual([undefined, ids[400]]);
});

test("an account that is null without an error is a key without an identity, in a single read too", async () => {
  const { emulated } = await withEndpoints(0);
  await using _ = emulated;
  for (const nth of [1, 2]) {
    emulated.emulator.faults.add({ match: { operation: "myself", nth }, effect: { nullAccount: true } });
    expect(await emulated.failure(emulated.client.endpoints.find("gone"))).toBeInstanceOf(AuthenticationError);
    emulated.emulator.faults.clear();
  }
});

test.each([
  "observed",
  "contract",
] as const)("with lists of ten seconds ago a new endpoint is found at once, or within 15 s (%s)", async (profile) => {
  const { emulated } = await withEndpoints(0, { emulator: { profile } });
  await using _ = emulated;
  lag(emulated);
  const { id } = await emulated.run(emulated.client.endpoints.create(INPUT));
  const createdAt = emulated.clock.monotonic();
  expect(await emulated.run(emulated.client.endpoints.find(id, { maxAgeMs: 60_000 }))).toMatchObject({ id });
  expect(emulated.clock.monotonic() - createdAt).toBeLessThanOrEqual(profile === "observed" ? 6_000 : 16_000);
  const changed = await emulated.run(emulated.client.endpoints.update(id, { idleTimeout: 9 }));
  expect(changed.idleTimeout).toBe(9);
});

test("with lists of ten seconds ago a lost create is found, not repeated", async () => {
  const { emulated } = await withEndpoints(3);
  await using _ = emulated;
  lag(emulated);
  emulated.emulator.faults.add({
    match: { operation: "saveEndpoint" },
    effect: { reset: true, when: "after" },
    times: 1,
  });
  const created = await emulated.run(emulated.client.endpoints.create(INPUT));
  expect(named(emulated, "llama").map(({ id }) => id)).toEqual([created.id]);
});

test("with lists of ten seconds ago a template and a volume that were just created are deleted, not forgotten", async () => {
  const { emulated } = await withEndpoints(0);
  await using _ = emulated;
  lag(emulated);
  const template = await emulated.run(emulated.client.templates.create({ name: "t", imageName: "i" }));
  await emulated.run(emulated.client.templates.delete(template.id));
  const volume = await emulated.run(emulated.client.volumes.create({ name: "v", size: 10, dataCenterId: "EU-RO-1" }));
  await emulated.run(emulated.client.volumes.delete(volume.id));
  expect(emulated.calls()).toEqual(expect.arrayContaining(["podTemplate", "deleteTemplate", "deleteNetworkVolume"]));
});
