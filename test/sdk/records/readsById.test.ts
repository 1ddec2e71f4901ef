import { EmptyListError, NotFoundError, ServiceFaultError, UnexpectedResponseError } from "../../../sdk/errors/errors";
import { type Emulated, startEmulated } from "../../support/emulated";

const ENDPOINT = { name: "e", gpuIds: "AMPERE_24", templateId: "t", workersMax: 0 } as const;

/** The kinds of records, their operations over REST v2, and how the service creates one. */
const KINDS = {
  endpoints: ["Endpoint", "Endpoints", ({ emulator }: Emulated) => emulator.endpoints.create(ENDPOINT).id],
  templates: ["Template", "Templates", ({ emulator }: Emulated) => emulator.templates.create(TEMPLATE).id],
  volumes: ["NetworkVolume", "NetworkVolumes", ({ emulator }: Emulated) => emulator.volumes.create(VOLUME).id],
  registryAuths: ["Registry", "Registries", ({ emulator }: Emulated) => emulator.registryAuths.create(LOGIN).id],
  secrets: ["Secret", "Secrets", ({ emulator }: Emulated) => emulator.secrets.create(SECRET).id],
} as const;
const TEMPLATE = { name: "t", imageName: "i", isServerless: true };
const VOLUME = { name: "v", size: 10, dataCenterId: "EU-RO-1" };
const LOGIN = { name: "r", username: "me", password: "password-canary" };
const SECRET = { name: "s", value: "value-canary" };

type KindName = keyof typeof KINDS;
const NAMES = Object.keys(KINDS) as KindName[];

/** Returns the times of the requests of one operation. */
function times({ emulator }: Emulated, operation: string): number[] {
  return emulator.journal.requests({ operation }).map(({ at }) => at);
}

describe.each(NAMES)("%s over REST v2", (name) => {
  const [one, many, create] = KINDS[name];
  const [get, list, remove] = [`get${one}`, `list${many}`, `delete${one}`];
  let site: Emulated;
  beforeEach(async () => {
    site = await startEmulated({ client: { api: "v2" } });
  });
  afterEach(() => site[Symbol.asyncDispose]());

  test("a record counts as absent after one list and two reads by id, with the lag of the lists in between", async () => {
    expect(await site.run(site.client[name].find("absent"))).toBeUndefined();
    expect(site.calls()).toEqual([list, get, get]);
    const [first = 0, second = 0] = times(site, get);
    expect(second - first).toBeGreaterThanOrEqual(5_000);
    expect(await site.failure(site.client[name].get("absent"))).toBeInstanceOf(NotFoundError);
  });

  test("a record that is missing from empty lists is read by its id and deleted", async () => {
    const id = create(site);
    site.emulator.faults.add({ effect: { emptyLists: true } });
    expect(await site.run(site.client[name].find(id))).toMatchObject({ id });
    expect(site.calls()).toEqual([list, get]);
    await site.run(site.client[name].delete(id));
    expect(site.calls()).toContain(remove);
    site.emulator.faults.clear();
    expect(await site.run(site.client[name].list())).toEqual([]);
  });

  test("a record that neither a list nor the first read by id shows yet is found by the second read", async () => {
    const id = create(site);
    site.emulator.faults.add({ effect: { listLagMs: 10_000 } });
    expect(await site.run(site.client[name].find(id))).toMatchObject({ id });
    expect(site.calls()).toEqual([list, get, get]);
  });

  test("a gateway's 404 page says nothing about a record or its deletion", async () => {
    const id = create(site);
    site.emulator.faults.add({ match: { operation: list }, effect: { emptyLists: true } });
    for (const operation of [get, remove]) {
      site.emulator.faults.add({ match: { operation }, effect: { html: true, status: 404 } });
    }
    expect(await site.failure(site.client[name].find(id))).toMatchObject({ code: "UNREADABLE_RESPONSE" });
    expect(await site.failure(site.client[name].delete(id))).toMatchObject({ code: "UNREADABLE_RESPONSE" });
    site.emulator.faults.clear();
    site.emulator.faults.add({ match: { operation: get }, effect: { status: 404, body: { message: "no route" } } });
    site.emulator.faults.add({ match: { operation: list }, effect: { emptyLists: true } });
    expect(await site.failure(site.client[name].find(id))).toMatchObject({ code: "UNREADABLE_RESPONSE" });
  });

  test("a read by id that is refused or gets a malformed response causes an error and does not prove absence", async () => {
    site.emulator.faults.add({ match: { operation: get }, effect: { status: 503 }, times: 6 });
    expect(await site.failure(site.client[name].find("absent"))).toBeInstanceOf(ServiceFaultError);
    site.emulator.faults.add({ match: { operation: get }, effect: { status: 200, body: { id: "another" } }, times: 1 });
    const error = await site.failure(site.client[name].find("absent"));
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error.message).toContain("absent");
  });
});

test("over REST v2, at most four records that are missing from a list are read by id at a time", async () => {
  await using site = await startEmulated({ client: { api: "v2" } });
  const { client, emulator } = site;
  // Time passes during requests with a name like this.
  emulator.faults.add({ name: "hangs for a while", match: { operation: "getTemplate" }, effect: { latencyMs: 100 } });
  const ids = Array.from({ length: 12 }, (_, each) => `absent-${each % 6}`);
  const found = await site.run(Promise.all(ids.map((id) => client.templates.find(id, { maxAgeMs: 30_000 }))));
  expect(new Set(found)).toEqual(new Set([undefined]));
  expect(site.calls()).toEqual(["listTemplates", ...Array.from({ length: 12 }, () => "getTemplate")]);
  const reads = emulator.journal.requests({ operation: "getTemplate" });
  const running = reads.map(({ at }) => reads.filter((each) => each.at <= at && at < each.at + 100).length);
  expect(Math.max(...running)).toBeGreaterThan(1);
  expect(Math.max(...running)).toBeLessThanOrEqual(4);
});

test("over REST v2, 300 existing records are read with one list", async () => {
  await using site = await startEmulated({ client: { api: "v2" } });
  const ids = Array.from(
    { length: 300 },
    (_, each) => site.emulator.volumes.create({ ...VOLUME, name: `v${each}` }).id,
  );
  await site.run(Promise.all(ids.map((id) => site.client.volumes.find(id, { maxAgeMs: 60_000 }))));
  expect(site.calls()).toEqual(["listNetworkVolumes"]);
});

test("over REST v2, an endpoint that an empty list hides is drained before it is deleted", async () => {
  await using site = await startEmulated({ client: { api: "v2" }, emulator: { drainMs: 20_000 } });
  const { id } = site.emulator.endpoints.create({ ...ENDPOINT, workersMin: 1, workersMax: 1 });
  await site.clock.advance(1_000);
  site.emulator.faults.add({ match: { operation: "listEndpoints", nth: 2 }, effect: { emptyLists: true } });
  site.emulator.faults.add({ match: { operation: "listEndpoints", nth: 3 }, effect: { emptyLists: true } });
  await site.run(site.client.endpoints.delete(id));
  const [scaled = 0] = times(site, "updateEndpoint");
  const [deleted = 0] = times(site, "deleteEndpoint");
  expect(deleted - scaled).toBeGreaterThan(15_000);
});

const LISTED = ["volumes", "registryAuths", "secrets"] as const;

describe.each(LISTED)("%s over GraphQL", (name) => {
  const [, , create] = KINDS[name];
  let site: Emulated;
  beforeEach(async () => {
    site = await startEmulated({ emulator: { profile: "observed" }, client: { service: "runpod" } });
  });
  afterEach(() => site[Symbol.asyncDispose]());

  test("a list without any record proves nothing", async () => {
    const id = create(site);
    site.emulator.faults.add({ effect: { emptyLists: true } });
    const error = await site.failure(site.client[name].find(id));
    expect(error).toBeInstanceOf(EmptyListError);
    expect(error.message).toContain(`${id} exists. The list was empty`);
    await expect(site.run(site.client[name].delete(id))).rejects.toThrow(EmptyListError);
    site.emulator.faults.clear();
    expect(await site.run(site.client[name].find(id))).toMatchObject({ id });
  });

  test.each([1, 2])("if list %i of the two is empty, nothing is proven", async (nth) => {
    create(site);
    site.emulator.faults.add({ match: { operation: "myself", nth }, effect: { emptyLists: true } });
    expect(await site.failure(site.client[name].find("absent"))).toBeInstanceOf(EmptyListError);
    expect(site.calls()).toEqual(["myself", "myself"]);
  });

  test("a search ends with the error thrown by onMissing after the first list", async () => {
    create(site);
    const onMissing = () => {
      throw new RangeError("enough");
    };
    expect(await site.failure(site.client[name].find("absent", { onMissing }))).toBeInstanceOf(RangeError);
    expect(site.calls()).toEqual(["myself"]);
  });

  test("a record counts as absent after two lists with other records, 15 s apart", async () => {
    create(site);
    const askedAt = site.clock.now();
    expect(await site.run(site.client[name].find("absent"))).toBeUndefined();
    expect(site.calls()).toEqual(["myself", "myself"]);
    expect(site.clock.now() - askedAt).toBeGreaterThanOrEqual(15_000);
  });

  test("a known record that is missing from empty lists is deleted by its id, and a killed deletion is repeated", async () => {
    const id = create(site);
    const known = { name: VOLUME.name };
    site.emulator.faults.add({ effect: { emptyLists: true } });
    await site.run(site.client[name].delete(id, { known }));
    site.emulator.faults.clear();
    expect(await site.run(site.client[name].list())).toEqual([]);
    await site.run(site.client[name].delete(id, { known }));
  });

  test("a record whose deletion was refused does not count as deleted when the next list is empty", async () => {
    const id = create(site);
    const refusal = { message: "it is still in use", code: "RUNPOD" };
    const operation = { volumes: "deleteNetworkVolume", registryAuths: "deleteRegistryAuth", secrets: "secretDelete" };
    site.emulator.faults.add({ match: { operation: operation[name] }, effect: { graphqlError: refusal } });
    const deletion = site.client[name].delete(id, {
      onDelete: () => {
        site.emulator.faults.add({ match: { operation: "myself" }, effect: { emptyLists: true } });
      },
    });
    expect(await site.failure(deletion)).toBeInstanceOf(EmptyListError);
  });
});

test("over GraphQL, endpoints and templates that are missing from empty lists are read by their ids", async () => {
  await using site = await startEmulated({ emulator: { profile: "observed" }, client: { service: "runpod" } });
  const [endpoint, template] = [KINDS.endpoints[2](site), KINDS.templates[2](site)];
  site.emulator.faults.add({ effect: { emptyLists: true } });
  expect(await site.run(site.client.endpoints.find(endpoint))).toMatchObject({ id: endpoint });
  expect(await site.run(site.client.templates.find(template))).toMatchObject({ id: template });
  await site.run(site.client.endpoints.delete(endpoint));
  expect(site.emulator.endpoints.get(endpoint)).toBeUndefined();
});
