import {
  AuthenticationError,
  CreateUncertainError,
  InUseError,
  NameTakenError,
  NotFoundError,
  UnexpectedResponseError,
} from "../../../sdk/errors/errors";
import type { WarningEvent } from "../../../sdk/transport/observers";
import { CANARY, type Emulated, type EmulatedOptions, startEmulated } from "../../support/emulated";

const INPUT = { name: "llama", gpuIds: ["AMPERE_24"], templateId: "abc123", workersMax: 0 } as const;

/** Starts an account with some endpoints: `e0` is the oldest. Their ids are in the same order. */
async function withEndpoints(count: number, options: EmulatedOptions = {}) {
  const warnings: WarningEvent[] = [];
  const account = await startEmulated({
    emulator: { profile: "observed", ...options.emulator },
    client: { onWarning: (event) => warnings.push(event), ...options.client },
  });
  const saves = Array.from(
    { length: count },
    (_, each) =>
      `a${each}: saveEndpoint(input: { name: "e${each}", gpuIds: "AMPERE_24", templateId: "abc123", workersMax: 0 }) { id }`,
  );
  for (let from = 0; from < count; from += 100) {
    const response = await fetch(`${account.emulator.url}/graphql?api_key=${CANARY}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query: `mutation { ${saves.slice(from, from + 100).join(" ")} }` }),
    });
    expect(response.status).toBe(200);
    await response.text();
  }
  account.emulator.journal.clear();
  return { it: account, warnings, ids: account.emulator.endpoints.list().map(({ id }) => id) };
}

/** Hides records younger than ten seconds from all lists. */
function lag({ emulator }: Emulated): void {
  emulator.faults.add({ match: { operation: "myself" }, effect: { listLagMs: 10_000 } });
}

function refuseV2({ emulator }: Emulated): void {
  emulator.faults.add({ match: { operation: "listEndpoints" }, effect: { status: 403 } });
}

const named = ({ emulator }: Emulated, name: string) => emulator.endpoints.list().filter((each) => each.name === name);

test("an endpoint that is missing from a truncated list is found, changed, recycled and deleted like any other", async () => {
  const { it: account, ids } = await withEndpoints(402);
  await using _ = account;
  const { endpoints } = account.client;
  const [id = "", other = ""] = ids.slice(400);
  expect(await account.run(endpoints.find(id))).toMatchObject({ id, name: "e400" });
  expect(account.calls()).toEqual(["myself", "myself"]);
  expect(await account.run(endpoints.update(id, { idleTimeout: 77 }))).toMatchObject({ id, idleTimeout: 77 });
  expect(await account.run(endpoints.recycleWorkers(id, { workersMin: 0, workersMax: 1 }))).toMatchObject({
    workersMax: 1,
  });
  await account.run(endpoints.delete(id));
  expect(await account.run(endpoints.find(id))).toBeUndefined();
  await account.run(endpoints.delete(ids[3] as string));
  expect(account.emulator.endpoints.list().map((each) => each.id)).toEqual(
    ids.filter((each) => each !== id && each !== ids[3]),
  );
  expect(await account.run(endpoints.get(other))).toMatchObject({ name: "e401" });
});

test("an endpoint that is missing from a truncated list is not considered gone just because its deletion was accepted", async () => {
  const { it: account, ids } = await withEndpoints(402);
  await using _ = account;
  const id = ids[400] as string;
  const accepted = { status: 200, body: { data: { deleteEndpoint: null } } };
  account.emulator.faults.add({ match: { operation: "deleteEndpoint" }, effect: accepted, times: 1 });
  await account.run(account.client.endpoints.delete(id));
  expect(account.calls().filter((call) => call === "deleteEndpoint")).toHaveLength(2);
  expect(account.emulator.endpoints.get(id)).toBeUndefined();
});

test("three hundred concurrent finds share one list, and missing records are read by id, fifty at a time", async () => {
  const { it: account, ids } = await withEndpoints(520);
  await using _ = account;
  const find = (id: string) => account.client.endpoints.find(id, { maxAgeMs: 60_000 });
  await account.run(Promise.all(ids.slice(0, 300).map(find)));
  expect(account.calls()).toEqual(["myself"]);
  const found = await account.run(Promise.all(ids.slice(400).map(find)));
  expect(found.map((each) => each?.id)).toEqual(ids.slice(400));
  expect(account.calls()).toHaveLength(1 + 3);
});

test("a list of all endpoints includes those that the service leaves out or, without REST v2, warns that it may be incomplete", async () => {
  const { it: account, ids, warnings } = await withEndpoints(402);
  await using _ = account;
  const all = await account.run(account.client.endpoints.list());
  expect(all.map(({ id }) => id).sort()).toEqual([...ids].sort());
  expect(await account.run(account.client.endpoints.listReadable())).not.toHaveProperty("mayBeCut");
  expect(warnings).toEqual([]);
  refuseV2(account);
  expect(await account.run(account.client.endpoints.listReadable())).toMatchObject({ mayBeCut: true });
  await account.run(account.client.endpoints.listReadable());
  expect(warnings).toHaveLength(1);
  expect(warnings[0]?.message).toContain("the list of endpoints has 400 records or more");
  expect(account.calls().filter((each) => each === "listEndpoints")).toHaveLength(3);
});

test("a name counts as taken even if only a hidden endpoint uses it", async () => {
  const { it: account, ids } = await withEndpoints(401);
  await using _ = account;
  const onNameTaken = (existing: readonly { readonly id: string }[]) => {
    const taken = existing.map(({ id }) => id);
    throw new NameTakenError(`taken by ${taken}`, taken);
  };
  const create = account.client.endpoints.create({ ...INPUT, name: "e400" }, { onNameTaken });
  expect(await account.failure(create)).toHaveProperty("message", `taken by ${ids[400]}`);
});

test("a create whose response is lost is found even if the list is truncated, and only one endpoint exists", async () => {
  const { it: account } = await withEndpoints(400);
  await using _ = account;
  account.emulator.faults.add({
    match: { operation: "saveEndpoint" },
    effect: { reset: true, when: "after" },
    times: 1,
  });
  const created = await account.run(account.client.endpoints.create(INPUT));
  expect(named(account, "llama").map(({ id }) => id)).toEqual([created.id]);
});

test("a create whose response is lost is sent again if no list contains the endpoint, regardless of the lists' length", async () => {
  const { it: account } = await withEndpoints(400);
  await using _ = account;
  account.emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: { reset: true }, times: 1 });
  const created = await account.run(account.client.endpoints.create(INPUT));
  expect(named(account, "llama").map(({ id }) => id)).toEqual([created.id]);
});

test.each([
  "before",
  "after",
] as const)("a create whose response is lost %s it took effect is not repeated if the list is truncated and REST v2 is unavailable", async (when) => {
  const { it: account, warnings } = await withEndpoints(400);
  await using _ = account;
  refuseV2(account);
  account.emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: { reset: true, when }, times: 1 });
  const error = await account.failure(account.client.endpoints.create(INPUT));
  expect(error).toBeInstanceOf(CreateUncertainError);
  expect(error.message).toMatch(
    /may be cut off after 400 records.*was not repeated.*Look for the name in the service's/s,
  );
  expect(account.calls().filter((each) => each === "saveEndpoint")).toHaveLength(1);
  expect(warnings).toHaveLength(1);
  expect(await account.run(account.client.endpoints.create({ ...INPUT, name: "next" }))).toMatchObject({
    name: "next",
  });
});

test("a service without single reads is asked for one only once, and a list of 400 endpoints then proves nothing", async () => {
  const { it: account, ids } = await withEndpoints(399, { emulator: { profile: "contract" } });
  await using _ = account;
  const { endpoints } = account.client;
  const refusals = () => account.emulator.journal.requests().filter(({ status }) => status === 400).length;
  expect(await account.run(endpoints.find("nowhere"))).toBeUndefined();
  expect(await account.failure(endpoints.get("nowhere"))).toBeInstanceOf(NotFoundError);
  expect(refusals()).toBe(1);
  await account.run(endpoints.create(INPUT));
  for (const call of [endpoints.find("x"), endpoints.update("x", { idleTimeout: 7 }), endpoints.delete("x")]) {
    const error = await account.failure(call);
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error.message).toContain("cannot tell whether endpoint x exists");
  }
  await account.run(endpoints.delete(ids[0] as string));
  expect(account.emulator.endpoints.list()).toHaveLength(399);
  expect(refusals()).toBe(1);
});

test("a service that answers single reads with not found receives no further single reads", async () => {
  const { it: account } = await withEndpoints(1);
  await using _ = account;
  const body = { errors: [{ message: 'Field "endpoint" was not found on type "User"' }] };
  account.emulator.faults.add({ match: { operation: "myself", nth: 2 }, effect: { status: 400, body } });
  expect(await account.run(account.client.endpoints.find("nowhere"))).toBeUndefined();
  // The list, the refused read, and a list later.
  expect(account.calls()).toEqual(["myself", "myself", "myself"]);
});

test("a 404 from a gateway in front of the service says nothing about an endpoint", async () => {
  const { it: account, ids } = await withEndpoints(401);
  await using _ = account;
  for (const nth of [2, 3]) {
    const effect = { status: 404, body: { errors: [{ message: "no such route" }] } };
    account.emulator.faults.add({ match: { operation: "myself", nth }, effect });
  }
  const find = account.client.endpoints.find(ids[400] as string);
  const outcome = await account.run(find.then((found) => found?.id ?? "absent").catch(() => "an error"));
  expect(outcome).not.toBe("absent");
});

test.each([
  {},
  { a0: { id: "other", name: "o" } },
  { endpoint: null },
])("a response to a single read that does not mention the id (%j) does not prove absence", async (myself) => {
  const { it: account } = await withEndpoints(0);
  await using _ = account;
  const effect = { status: 200, body: { data: { myself } } };
  const { id } = await account.run(account.client.endpoints.create(INPUT));
  // The first read is the list that hides the endpoint, and the second is the single read.
  account.emulator.faults.add({ match: { operation: "myself", nth: 2 }, effect });
  lag(account);
  expect(await account.run(account.client.endpoints.find(id))).toMatchObject({ id });
  expect(account.calls()).toEqual(["myself", "saveEndpoint", "myself", "myself", "myself"]);
});

test("a service that has supported single reads before is never treated as one that does not", async () => {
  const { it: account } = await withEndpoints(0);
  await using _ = account;
  expect(await account.run(account.client.endpoints.find("gone"))).toBeUndefined();
  const effect = { status: 200, body: { data: { myself: {} } } };
  account.emulator.faults.add({ match: { operation: "myself", nth: 2 }, effect });
  const error = await account.failure(account.client.endpoints.find("gone"));
  expect(error).toBeInstanceOf(UnexpectedResponseError);
  expect(error.message).toContain("no answer about endpoint gone");
});

test("a not-found response for an unknown id is understood, and the other ids in the request are read", async () => {
  const { it: account, ids } = await withEndpoints(401);
  await using _ = account;
  const find = (id: string) => account.client.endpoints.find(id, { maxAgeMs: 60_000 });
  const message = 'Endpoint "gone" not found';
  account.emulator.faults.add({
    match: { operation: "myself", nth: 2 },
    effect: { graphqlError: { message, code: "RUNPOD" } },
  });
  const startedAt = account.clock.monotonic();
  let foundAfterMs = Number.POSITIVE_INFINITY;
  const other = find(ids[400] as string).then((found) => {
    foundAfterMs = account.clock.monotonic() - startedAt;
    return found;
  });
  const found = await account.run(Promise.all([find("gone"), other]));
  expect(found.map((each) => each?.id)).toEqual([undefined, ids[400]]);
  // Not only by the second look.
  expect(foundAfterMs).toBeLessThan(1_000);
});

test("a null account without an error means that the key was not accepted, even in a single read", async () => {
  const { it: account } = await withEndpoints(0);
  await using _ = account;
  for (const nth of [1, 2]) {
    account.emulator.faults.add({ match: { operation: "myself", nth }, effect: { nullAccount: true } });
    expect(await account.failure(account.client.endpoints.find("gone"))).toBeInstanceOf(AuthenticationError);
    account.emulator.faults.clear();
  }
});

test.each([
  "observed",
  "contract",
] as const)("when lists lag by ten seconds, a new endpoint is found at once or within 15 s (%s)", async (profile) => {
  const { it: account } = await withEndpoints(0, { emulator: { profile } });
  await using _ = account;
  lag(account);
  const { id } = await account.run(account.client.endpoints.create(INPUT));
  const createdAt = account.clock.monotonic();
  expect(await account.run(account.client.endpoints.find(id, { maxAgeMs: 60_000 }))).toMatchObject({ id });
  expect(account.clock.monotonic() - createdAt).toBeLessThanOrEqual(profile === "observed" ? 6_000 : 16_000);
  const changed = await account.run(account.client.endpoints.update(id, { idleTimeout: 9 }));
  expect(changed.idleTimeout).toBe(9);
});

test("when lists lag by ten seconds, a create whose response was lost is found and not repeated", async () => {
  const { it: account } = await withEndpoints(3);
  await using _ = account;
  lag(account);
  account.emulator.faults.add({
    match: { operation: "saveEndpoint" },
    effect: { reset: true, when: "after" },
    times: 1,
  });
  const created = await account.run(account.client.endpoints.create(INPUT));
  expect(named(account, "llama").map(({ id }) => id)).toEqual([created.id]);
});

test("when lists lag by ten seconds, a template and a volume that were just created are deleted, not forgotten", async () => {
  const { it: account } = await withEndpoints(0);
  await using _ = account;
  lag(account);
  const template = await account.run(account.client.templates.create({ name: "t", imageName: "i" }));
  await account.run(account.client.templates.delete(template.id));
  const volume = await account.run(account.client.volumes.create({ name: "v", size: 10, dataCenterId: "EU-RO-1" }));
  await account.run(account.client.volumes.delete(volume.id));
  expect(account.calls()).toEqual(expect.arrayContaining(["podTemplate", "deleteTemplate", "deleteNetworkVolume"]));
});

const CREDENTIAL = { name: "ghcr", username: "me", password: "password-canary-1" };

/** Adds templates, of which only the youngest uses the credential. A cut list hides it. */
function addTemplates({ emulator }: Emulated, containerRegistryAuthId: string): string {
  const template = (name: string, id = "") =>
    emulator.templates.create({ name, imageName: "i", isServerless: true, containerRegistryAuthId: id }).id;
  for (let each = 0; each < 400; each++) template(`t${each}`);
  return template("t400", containerRegistryAuthId);
}

test("a credential that only a hidden template uses is not deleted, because the template would lose it", async () => {
  await using it = await startEmulated({ emulator: { profile: "observed" } });
  const { client, emulator } = it;
  const { id } = await it.run(client.registryAuths.create(CREDENTIAL));
  const user = addTemplates(it, id);
  const error = await it.failure(client.registryAuths.delete(id));
  expect(error).toBeInstanceOf(InUseError);
  expect(error.message).toContain(`template "t400" (${user})`);
  expect(it.calls()).not.toContain("deleteRegistryAuth");
  emulator.templates.delete(user);
  await it.run(client.registryAuths.delete(id));
  expect(emulator.registryAuths.list()).toEqual([]);
});

test("a credential is not deleted while a truncated list may hide a template that uses it", async () => {
  await using it = await startEmulated({ emulator: { profile: "observed" } });
  const { client, emulator } = it;
  const { id } = await it.run(client.registryAuths.create(CREDENTIAL));
  const user = addTemplates(it, id);
  emulator.faults.add({ match: { interface: "v2" }, effect: { status: 403 } });
  const error = await it.failure(client.registryAuths.delete(id));
  expect(error).toBeInstanceOf(UnexpectedResponseError);
  expect(error.message).toMatch(
    /is not deleted, because it may be in use: the list of templates has 400 records or more/,
  );
  expect(it.calls()).not.toContain("deleteRegistryAuth");
  emulator.templates.delete(user);
  for (const { id: other } of emulator.templates.list().slice(0, 1)) emulator.templates.delete(other);
  await it.run(client.registryAuths.delete(id));
  expect(emulator.registryAuths.list()).toEqual([]);
});

test("a volume that only a hidden endpoint mounts is not deleted, even if the service would delete it", async () => {
  const { it } = await withEndpoints(400);
  await using _ = it;
  const { client, emulator } = it;
  const { id } = await it.run(client.volumes.create({ name: "v", size: 10, dataCenterId: "EU-RO-1" }));
  await it.run(client.endpoints.create({ ...INPUT, networkVolumeId: id }));
  expect(await it.failure(client.volumes.delete(id))).toBeInstanceOf(InUseError);
  refuseV2(it);
  // A client that has not heard of the refusal yet asks once.
  const error = await it.failure(client.volumes.delete(id));
  expect(error).toBeInstanceOf(UnexpectedResponseError);
  expect(error.message).toContain("the list of endpoints has 400 records or more");
  expect(it.calls()).not.toContain("deleteNetworkVolume");
  expect(emulator.volumes.list()).toHaveLength(1);
});

test("a template is deleted even if the list of endpoints is truncated, because the service refuses to delete a template in use", async () => {
  const { it } = await withEndpoints(400);
  await using _ = it;
  refuseV2(it);
  const { id } = await it.run(it.client.templates.create({ name: "t", imageName: "i" }));
  await it.run(it.client.templates.delete(id));
  expect(it.emulator.templates.list()).toEqual([]);
});

test("a credential is not deleted while a template cannot be read", async () => {
  await using it = await startEmulated({ emulator: { profile: "observed" } });
  const { id } = await it.run(it.client.registryAuths.create(CREDENTIAL));
  const body = (podTemplates: unknown[]) => ({ status: 200, body: { data: { myself: { podTemplates } } } });
  const { id: user } = it.emulator.templates.create({ name: "t", imageName: "i", isServerless: true });
  it.emulator.faults.add({ match: { operation: "myself", nth: 2 }, effect: body([{ id: user, name: 7 }]) });
  it.emulator.faults.add({ match: { operation: "myself", nth: 3 }, effect: body([{ id: user, name: 7 }]) });
  const error = await it.failure(it.client.registryAuths.delete(id));
  expect(error.message).toContain(`it may be in use: template ${user} cannot be read`);
  expect(it.emulator.registryAuths.list()).toHaveLength(1);
});
