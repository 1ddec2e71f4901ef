import { inspect } from "node:util";
import { Agent } from "undici";
import { BusinessRuleError, InvalidInputError } from "../../../sdk/errors/errors";
import { type Emulated, startEmulated } from "../../support/emulated";
import { graphql } from "../../support/plainClient";

const warnings: string[] = [];
/** The GraphQL documents that the client has sent. */
const documents: string[] = [];
beforeEach(() => {
  warnings.length = 0;
  documents.length = 0;
});

const agent = new Agent();
afterAll(() => agent.close());
const recording = agent.compose((dispatch) => (options, handler) => {
  if (typeof options.body === "string") documents.push(JSON.parse(options.body).query);
  return dispatch(options, handler);
});

const start = () =>
  startEmulated({
    emulator: { profile: "observed" },
    client: { service: "runpod", dispatcher: recording, onWarning: ({ message }) => warnings.push(message) },
  });

const sent = (field: string) => documents.filter((document) => document.includes(`{ ${field}`));
/** Returns the input of the last save, without the selection behind it. */
const lastSave = () => sent("saveEndpoint").at(-1)?.split(") {")[0] ?? "";

/** All fields that the client does not manage. */
const SHOWN = `gpuIds gpuCount minCudaVersion allowedCudaVersions instanceIds type executionTimeoutMs modelReferences
  compliance workersPFBTarget workersStandby networkVolumeId networkVolumeIds { networkVolumeId } env { key value }`;

/** Creates an endpoint as the service's console or another tool does. */
async function make({ emulator }: Emulated, more: string): Promise<string> {
  const { body } = await graphql(
    emulator,
    `mutation { saveEndpoint(input: { name: "llama", templateId: "t", workersMax: 3, ${more} }) { id } }`,
  );
  return body.data.saveEndpoint.id;
}

/** Returns an endpoint as the service shows it, without the client. */
async function shown({ emulator }: Emulated, id: string) {
  const { body } = await graphql(emulator, `{ myself { endpoints { id ${SHOWN} } } }`);
  return body.data.myself.endpoints.find((each: { readonly id: string }) => each.id === id);
}

const WHOLE = `gpuIds: "ADA_24", gpuCount: 2, minCudaVersion: "12.4", type: "LB", executionTimeoutMs: 60000,
  modelReferences: ["https://huggingface.co/a/b:main"], compliance: [GDPR, HIPAA], workersPFBTarget: 1,
  networkVolumeId: "v1", networkVolumeIds: [{ networkVolumeId: "v1" }, { networkVolumeId: "v2" }]`;

/**
 * Creates an endpoint with all of these fields, and with variables, which a save with `templateId`
 * ignores.
 */
async function makeWhole(it: Emulated): Promise<string> {
  const id = await make(it, WHOLE);
  it.emulator.endpoints.change(id, { env: [{ key: "HF_TOKEN", value: "secret-of-the-endpoint" }] });
  return id;
}

describe("a change at the service runpod", () => {
  test("a change at the service runpod keeps every field that the client does not manage, whatever changes the endpoint", async () => {
    await using service = await start();
    const id = await makeWhole(service);
    const { workersStandby: _, ...before } = await shown(service, id);
    expect(before).toMatchObject({ gpuCount: 2, workersPFBTarget: 1, executionTimeoutMs: 60_000, type: "LB" });
    const { endpoints } = service.client;
    await service.run(endpoints.update(id, { workersMax: 2 }));
    expect(await shown(service, id)).toMatchObject(before);
    await service.run(endpoints.update(id, { workersMax: 4 }));
    await service.run(endpoints.recycleWorkers(id, { workersMin: 0, workersMax: 2 }));
    await service.run(endpoints.scaleToZero(id));
    expect(await shown(service, id)).toMatchObject(before);
    expect(service.emulator.endpoints.get(id)).toMatchObject({ workersMin: 0, workersMax: 0, networkVolumeId: "v1" });
    await service.run(endpoints.delete(id));
    expect(service.emulator.endpoints.list()).toEqual([]);
    expect(warnings).toEqual([]);
  });

  test("a change at the service runpod omits null fields, the template and the data centers of volumes, and sends a single volume as networkVolumeId", async () => {
    await using service = await start();
    const two = await make(service, WHOLE);
    await service.run(service.client.endpoints.update(two, { workersMax: 2 }));
    expect(lastSave()).toContain('networkVolumeIds: [{networkVolumeId: "v1"}, {networkVolumeId: "v2"}]');
    expect(lastSave()).not.toMatch(/, networkVolumeId:|dataCenterId|template:|allowedCudaVersions|null/);
    await service.run(service.client.endpoints.update(two, { networkVolumeId: "v3" }));
    expect(lastSave()).not.toContain("networkVolumeIds");
    expect(await shown(service, two)).toMatchObject({ networkVolumeId: "v3" });
    const one = await make(
      service,
      'gpuIds: "ADA_24", networkVolumeId: "v1", networkVolumeIds: [{ networkVolumeId: "v1" }]',
    );
    await service.run(service.client.endpoints.update(one, { workersMax: 2 }));
    expect(lastSave()).toContain('networkVolumeId: "v1"');
    expect(lastSave()).not.toContain("networkVolumeIds");
  });

  test("a change at the service runpod keeps the processors of a CPU endpoint, and adds no GPUs", async () => {
    await using service = await start();
    const id = await make(service, 'gpuIds: "", instanceIds: ["cpu3g-4-16"]');
    await service.run(service.client.endpoints.update(id, { workersMax: 2 }));
    expect(lastSave()).toContain('gpuIds: ""');
    expect(lastSave()).not.toMatch(/gpuCount|CudaVersion/);
    expect(await shown(service, id)).toMatchObject({ instanceIds: ["cpu3g-4-16"], gpuIds: "" });
    const saves = sent("saveEndpoint").length;
    const refusal = await service.failure(service.client.endpoints.update(id, { gpuIds: "ADA_24" }));
    expect(refusal).toBeInstanceOf(InvalidInputError);
    expect(refusal.message).toContain("gpuIds: cannot be changed: the endpoint runs on CPUs (cpu3g-4-16)");
    expect(sent("saveEndpoint")).toHaveLength(saves);
    await service.run(service.client.endpoints.delete(id));
    expect(service.emulator.endpoints.list()).toEqual([]);
  });

  test("a change at the service runpod keeps the number of standby workers equal to workersMin if they were equal before, and caps it at workersMax", async () => {
    await using service = await start();
    const follows = await make(service, 'gpuIds: "ADA_24", workersMin: 2, workersStandby: 2');
    await service.run(service.client.endpoints.update(follows, { workersMin: 1 }));
    expect(await shown(service, follows)).toMatchObject({ workersStandby: 1 });
    const own = await make(service, 'gpuIds: "ADA_24", workersStandby: 2');
    await service.run(service.client.endpoints.update(own, { workersMax: 4 }));
    expect(await shown(service, own)).toMatchObject({ workersStandby: 2 });
    await service.run(service.client.endpoints.update(own, { workersMax: 1 }));
    expect(await shown(service, own)).toMatchObject({ workersStandby: 1 });
  });

  test("a change at the service runpod includes changes that someone else has made since this client's last save", async () => {
    await using service = await start();
    const id = await make(service, 'gpuIds: "ADA_24", gpuCount: 2');
    await service.run(service.client.endpoints.update(id, { workersMax: 2 }));
    await make(service, `id: "${id}", gpuIds: "ADA_24", gpuCount: 4`);
    await service.run(service.client.endpoints.update(id, { workersMax: 5 }));
    expect(await shown(service, id)).toMatchObject({ gpuCount: 4 });
  });
});

describe("secrets of an endpoint", () => {
  test("secrets of an endpoint are read only for a save and never returned, and the endpoint's key is never read", async () => {
    await using service = await start();
    const id = await makeWhole(service);
    const { endpoints } = service.client;
    const list = await service.run(endpoints.list());
    const saved = await service.run(endpoints.update(id, { workersMax: 2 }));
    const results = [list, saved, await service.run(endpoints.get(id)), await service.run(endpoints.scaleToZero(id))];
    expect(inspect(results, { depth: 20 })).not.toContain("secret-of");
    expect(await shown(service, id)).toMatchObject({ env: [{ key: "HF_TOKEN", value: "secret-of-the-endpoint" }] });
    // Its template is another record, whose variables it shows if the template belongs to it.
    const own = documents.map((document) => document.replace(/template \{.*?\{.*?\}.*?\}/g, ""));
    const reads = own.filter((document) => document.includes("env {"));
    expect(reads.length).toBeGreaterThan(0);
    expect(reads.filter((document) => document.includes("workersMax"))).toEqual([]);
    expect(documents.join()).not.toContain("aiKey");
  });

  test("secrets of an endpoint are read in one request for simultaneous changes, and each change sends its own secrets back", async () => {
    await using service = await start();
    const ids = await Promise.all(
      Array.from({ length: 8 }, async (_, i) => {
        const { id } = service.emulator.endpoints.create({ name: `e${i}`, gpuIds: "ADA_24", templateId: "t" });
        service.emulator.endpoints.change(id, { env: i === 7 ? [] : [{ key: "TOKEN", value: `secret-of-${i}` }] });
        return id;
      }),
    );
    await service.run(Promise.all(ids.map((id) => service.client.endpoints.update(id, { workersMax: 2 }))));
    for (const [i, id] of ids.entries()) {
      expect(service.emulator.endpoints.get(id)).toMatchObject({ workersMax: 2 });
      expect((await shown(service, id)).env).toEqual(i === 7 ? [] : [{ key: "TOKEN", value: `secret-of-${i}` }]);
    }
    expect(documents.filter((document) => document.includes("name env {"))).toHaveLength(1);
  });

  test("secrets of an endpoint are required for a save: when reading them fails, nothing is saved, and the next change reads them again", async () => {
    let isCut = true;
    const cutting = agent.compose((dispatch) => (options, handler) => {
      const isRead = typeof options.body === "string" && options.body.includes("name env {");
      if (!isRead || !isCut) return dispatch(options, handler);
      return dispatch({ ...options, body: JSON.stringify({ query: "{ myself { id } }" }) }, handler);
    });
    await using service = await startEmulated({
      emulator: { profile: "observed" },
      client: { service: "runpod", dispatcher: cutting },
    });
    const id = await makeWhole(service);
    const refusal = await service.failure(service.client.endpoints.update(id, { workersMax: 2 }));
    expect(refusal.message).toContain(`no answer about endpoint ${id}`);
    expect(service.emulator.endpoints.get(id)).toMatchObject({ workersMax: 3 });
    isCut = false;
    await service.run(service.client.endpoints.update(id, { workersMax: 2 }));
    expect(await shown(service, id)).toMatchObject({ env: [{ key: "HF_TOKEN", value: "secret-of-the-endpoint" }] });
  });

  test("secrets of an endpoint do not appear in the message when the service refuses a save", async () => {
    await using service = await start();
    const id = await makeWhole(service);
    const message = 'Unexpected "secret-of-the-endpoint"';
    service.emulator.faults.add({
      match: { operation: "saveEndpoint" },
      effect: { graphqlError: { message, code: "RUNPOD" } },
    });
    const refusal = await service.failure(service.client.endpoints.update(id, { workersMax: 2 }));
    expect(refusal.message).not.toContain("secret-of-the-endpoint");
  });
});

describe("a field that the service refuses", () => {
  const refuse = ({ emulator }: Emulated, operation: string, message: string) => {
    const body = { errors: [{ message, extensions: { code: "GRAPHQL_VALIDATION_FAILED" } }] };
    emulator.faults.add({ match: { operation }, effect: { status: 400, body }, times: 1 });
  };

  test("a field that may not exist is omitted from lists once the service has refused it, with one warning", async () => {
    await using service = await start();
    const id = await make(service, 'gpuIds: "ADA_24"');
    refuse(service, "myself", 'Cannot query field "workersPFBTarget" on type "Endpoint". Did you mean "workersMin"?');
    expect(await service.run(service.client.endpoints.list())).toMatchObject([{ id }]);
    await service.run(service.client.endpoints.update(id, { workersMax: 2 }));
    expect(sent("myself")[0]).toContain("workersPFBTarget");
    expect(documents.slice(1).join()).not.toContain("workersPFBTarget");
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/does not know the field workersPFBTarget of endpoints, so changes no longer send it/);
  });

  test("a field that may not exist is omitted when a refused save is repeated, and from all later saves", async () => {
    await using service = await start();
    const id = await make(service, 'gpuIds: "ADA_24", gpuCount: 2');
    refuse(service, "saveEndpoint", 'Field "workersStandby" is not defined by type "EndpointInput".');
    expect(await service.run(service.client.endpoints.update(id, { workersMax: 2 }))).toMatchObject({ workersMax: 2 });
    await service.run(service.client.endpoints.update(id, { workersMax: 5 }));
    expect(sent("saveEndpoint").map((save) => save.includes("workersStandby"))).toEqual([true, false, false]);
    expect(await shown(service, id)).toMatchObject({ gpuCount: 2 });
    expect(warnings).toHaveLength(1);
  });

  test("a change fails if the service refuses a field that exists, because the endpoint would lose the setting without it", async () => {
    await using service = await start();
    const id = await make(service, 'gpuIds: "ADA_24", gpuCount: 2');
    await service.run(service.client.endpoints.list());
    refuse(service, "saveEndpoint", 'Field "gpuCount" is not defined by type "EndpointInput".');
    const refusal = await service.failure(service.client.endpoints.update(id, { workersMax: 2 }));
    expect(refusal.message).toContain("gpuCount");
    expect(sent("saveEndpoint")).toHaveLength(1);
    expect(await shown(service, id)).toMatchObject({ gpuCount: 2 });
    expect(warnings).toEqual([]);
  });

  test("a field that the service refuses is not mistaken for the name of an endpoint", async () => {
    await using service = await start();
    const { id } = service.emulator.endpoints.create({ name: 'field "env"', gpuIds: "ADA_24", templateId: "t" });
    await service.run(service.client.endpoints.list());
    refuse(service, "saveEndpoint", "Syntax Error: Unexpected Name.");
    await service.failure(service.client.endpoints.update(id, { workersMax: 2 }));
    expect(warnings).toEqual([]);
  });
});

test.each([
  ['repo: { repoName: "me/llama" }', "built from a repository"],
  ['hubReleaseId: "h1"', "the service's hub"],
  ['flashEnvironmentId: "f1"', "the service's Flash tool"],
])("an endpoint with %s is not changed, and can be deleted at zero workers", async (source, words) => {
  await using service = await start();
  const id = await make(service, `gpuIds: "ADA_24", ${source}`);
  const { endpoints } = service.client;
  for (const change of [endpoints.update(id, { workersMax: 2 }), endpoints.scaleToZero(id), endpoints.delete(id)]) {
    const refusal = await service.failure(change);
    expect(refusal).toBeInstanceOf(BusinessRuleError);
    expect(refusal.message).toContain(words);
    expect(refusal.message).toContain("REST v2");
  }
  expect(sent("saveEndpoint")).toEqual([]);
  service.emulator.endpoints.change(id, { workersMin: 0, workersMax: 0 });
  await service.run(endpoints.delete(id));
  expect(service.emulator.endpoints.list()).toEqual([]);
});

test("another service receives only the fields of the contract, in one request", async () => {
  await using service = await startEmulated({ client: { dispatcher: recording } });
  const { id } = service.emulator.endpoints.create({ name: "llama", gpuIds: "ADA_24", templateId: "t" });
  await service.run(service.client.endpoints.update(id, { workersMax: 2 }));
  expect(service.calls()).toEqual(["myself", "saveEndpoint"]);
  expect(documents.join()).not.toMatch(/gpuCount|env|repo|instanceIds/);
});
