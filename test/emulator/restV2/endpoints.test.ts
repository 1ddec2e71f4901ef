import { type Emulator, startEmulator } from "../../../emulator";
import { graphql } from "../../support/plainClient";
import { callV2, NEW_ENDPOINT } from "./call";

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({
    profile: "contract",
    drainMs: 0,
    coldStartMs: 0,
    workerQuota: 10,
    seed: {
      templates: [
        { id: "tpl1", name: "one", imageName: "me/one:1", env: [{ key: "A", value: "template" }], ports: "8000/http" },
        { id: "tpl2", name: "two", imageName: "me/two:1", env: [{ key: "B", value: "two" }] },
        { id: "pods", name: "pods", imageName: "me/pods:1", isServerless: false },
      ],
      volumes: [
        { id: "ro1", name: "one", size: 10, dataCenterId: "EU-RO-1" },
        { id: "ro2", name: "two", size: 10, dataCenterId: "EU-RO-1" },
        { id: "cz", name: "three", size: 10, dataCenterId: "EU-CZ-1" },
      ],
    },
  });
});
afterEach(() => emulator.stop());

const call = (method: string, path: string, body?: unknown) => callV2(emulator, method, path, body);

/** Creates an endpoint, and returns its id. */
async function create(fields: object = {}): Promise<string> {
  const { status, body } = await call("POST", "/serverless", { ...NEW_ENDPOINT, ...fields });
  expect(status).toBe(201);
  return body.id;
}

test("[v2.create-status] [v2.template-unseen] a create returns 201 with the whole record, except for its template", async () => {
  const { status, body } = await call("POST", "/serverless", { ...NEW_ENDPOINT, timeout: 600_000 });
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.any(String),
    name: "llama",
    type: "QUEUE",
    flashboot: "OFF",
    timeout: 600_000,
    gpu: {
      pools: ["AMPERE_24", "ADA_24"],
      excludedTypes: ["NVIDIA L4"],
      count: 1,
      allowedCudaVersions: [],
      minCudaVersion: null,
    },
    workers: { min: 0, max: 3, idleTimeout: 5 },
    scaling: { type: "QUEUE_DELAY", queueDelay: 4 },
    dataCenterIds: [],
    networkVolumes: [],
    registry: null,
    args: "",
    cmd: [],
    entrypoint: [],
    disk: 20,
    image: "me/one:1",
    env: { A: "template" },
    ports: ["8000/http"],
    createdAt: expect.any(String),
    requestUrls: expect.objectContaining({ run: `${emulator.url}/v2/${body.id}/run` }),
  });
  expect((await call("GET", `/serverless/${body.id}`)).body).toEqual(body);
  expect((await call("GET", "/serverless")).body).toEqual({
    endpoints: [body],
    pagination: { nextCursor: null, hasNextPage: false },
  });
});

test("[v2.patch] a change keeps omitted fields and returns the whole record", async () => {
  const id = await create();
  const before = (await call("GET", `/serverless/${id}`)).body;
  const { status, body } = await call("PATCH", `/serverless/${id}`, { workers: { max: 7 }, name: "other" });
  expect(status).toBe(200);
  expect(body).toEqual({ ...before, name: "other", workers: { min: 0, max: 7, idleTimeout: 5 } });
});

test("[v2.gpu-selection] pools without excludedTypes clear the exclusions, and excludedTypes require pools", async () => {
  const id = await create();
  const changed = await call("PATCH", `/serverless/${id}`, { gpu: { pools: ["AMPERE_48"] } });
  expect(changed.body.gpu).toMatchObject({ pools: ["AMPERE_48"], excludedTypes: [] });
  const refused = await call("PATCH", `/serverless/${id}`, { gpu: { excludedTypes: ["NVIDIA L4"] } });
  expect(refused).toMatchObject({ status: 422, body: { errors: ["$.gpu: missing property 'pools'"] } });
  expect((await call("PATCH", `/serverless/${id}`, { gpu: { count: 2 } })).body.gpu.pools).toEqual(["AMPERE_48"]);
});

test.each<[string, object, number, string]>([
  ["[v2.validation] an unknown field", { locations: "CZ" }, 422, "additional properties 'locations' not allowed"],
  ["[v2.validation] a wrong type", { workers: { max: "3" } }, 422, "$.workers.max: must be of type integer"],
  ["[v2.validation] a value outside its range", { workers: { idleTimeout: 0 } }, 422, "must be at least 1"],
  ["[v2.validation] an extra key of the scaler", { scaling: { type: "QUEUE_DELAY", requestCount: 1 } }, 422, "variant"],
  ["[v2.gpu] no gpu", { gpu: undefined }, 400, "exactly one of gpu and cpu"],
  ["[v2.image] neither image nor template", { templateId: undefined }, 422, "missing property 'image'"],
  [
    "[v2.cuda] both rules of CUDA versions",
    { gpu: { pools: ["ADA_24"], allowedCudaVersions: ["12.8"], minCudaVersion: "12.1" } },
    400,
    "cannot be combined",
  ],
  [
    "[v2.idle-timeout] idleTimeout with REQUEST_COUNT",
    { scaling: { type: "REQUEST_COUNT", requestCount: 2 } },
    422,
    "idle",
  ],
  ["[v2.data-centers] an unknown data center", { dataCenterIds: ["XX-XX-9"] }, 400, 'data center "XX-XX-9"'],
  [
    "[v2.load-balancer-scaling] a load balancer with a scaler for queues",
    { type: "LOAD_BALANCER" },
    422,
    "LOAD_BALANCER needs REQUEST_COUNT",
  ],
  ["[v2.gpu] both gpu and cpu", { cpu: [{ id: "cpu3g", vcpuCount: 4 }] }, 400, "exactly one of gpu and cpu"],
  ["[v2.cpu] one vCPU", { gpu: undefined, cpu: [{ id: "cpu3g", vcpuCount: 1 }] }, 422, "at least 2"],
  ["[v2.cpu] six vCPUs", { gpu: undefined, cpu: [{ id: "cpu3g", vcpuCount: 6 }] }, 422, "power of two"],
  ["[v2.cpu] one flavor twice", { gpu: undefined, cpu: Array(2).fill({ id: "cpu3g", vcpuCount: 4 }) }, 422, "unique"],
  ["[save.cpu-instances] an unknown flavor", { gpu: undefined, cpu: [{ id: "cpu9z", vcpuCount: 4 }] }, 400, "cpu9z"],
  ["[save.volume-places] two volumes in one place", { networkVolumes: ["ro1", "ro2"] }, 400, "EU-RO-1"],
  ["[v2.quota] workers over the quota", { workers: { max: 11 } }, 400, "must not exceed your workers quota (10)"],
  ["[v2.pod-template] a template of pods", { templateId: "pods" }, 422, "not a serverless template"],
  ["[v2.unknown-template] an unknown template", { templateId: "none" }, 404, "Unable to find template"],
])("%s is refused", async (_, fields, status, reason) => {
  const refused = await call("POST", "/serverless", { ...NEW_ENDPOINT, ...fields });
  expect(refused.status).toBe(status);
  expect(refused.headers.get("content-type")).toBe("application/problem+json");
  expect(JSON.stringify(refused.body)).toContain(reason.replaceAll('"', '\\"'));
  expect(emulator.endpoints.list()).toEqual([]);
});

test("[v2.idle-timeout] no response contains idleTimeout with REQUEST_COUNT", async () => {
  const id = await create();
  const scaling = { type: "REQUEST_COUNT", requestCount: 2 };
  const { body } = await call("PATCH", `/serverless/${id}`, { scaling });
  expect(body).toMatchObject({ scaling, workers: { min: 0, max: 3 } });
  expect(body.workers).not.toHaveProperty("idleTimeout");
  const refused = await call("PATCH", `/serverless/${id}`, { workers: { idleTimeout: 9 } });
  expect(refused.status).toBe(422);
});

test("[v2.template-once] [v2.template-in-graphql] a template is applied only once, and saveEndpoint links it again", async () => {
  const id = await create();
  emulator.templates.change("tpl1", { imageName: "me/one:2" });
  expect((await call("GET", `/serverless/${id}`)).body.image).toBe("me/one:1");
  expect((await call("PATCH", `/serverless/${id}`, { templateId: "tpl1" })).body.image).toBe("me/one:2");
  expect((await call("PATCH", `/serverless/${id}`, { templateId: "tpl2" })).body).toMatchObject({
    image: "me/two:1",
    env: { B: "two" },
  });
  expect(emulator.endpoints.get(id)).toMatchObject({ templateId: "tpl2" });
  // An endpoint with its own container no longer needs its template.
  emulator.templates.delete("tpl2");
  expect((await call("PATCH", `/serverless/${id}`, { workers: { max: 1 } })).body.image).toBe("me/two:1");
  const input = `{id: "${id}", name: "llama", gpuIds: "ADA_24", templateId: "tpl1"}`;
  await graphql(emulator, `mutation { saveEndpoint(input: ${input}) { id } }`);
  emulator.templates.change("tpl1", { imageName: "me/one:3" });
  expect((await call("GET", `/serverless/${id}`)).body.image).toBe("me/one:3");
});

test("[v2.template-env] variables of the body take precedence over those of the template", async () => {
  const id = await create({ env: { A: "body", C: "c" } });
  const env = async () => (await call("GET", `/serverless/${id}`)).body.env;
  expect(await env()).toEqual({ A: "body", C: "c" });
  await call("PATCH", `/serverless/${id}`, { env: { D: "d" } });
  expect(await env()).toEqual({ D: "d" });
  await call("PATCH", `/serverless/${id}`, { templateId: "tpl2", env: { D: "d" } });
  expect(await env()).toEqual({ B: "two", D: "d" });
});

test("[v2.bound-template] [v2.delete-bound] deleting an endpoint also deletes the template that belongs to it, and no other", async () => {
  const id = await create({ templateId: undefined, image: "me/own:1" });
  const [bound] = emulator.templates.list().filter((each) => each.boundEndpointId === id);
  expect(bound).toMatchObject({ imageName: "me/own:1" });
  const listed = (await call("GET", "/templates")).body.templates;
  expect(listed.map((each: { id: string }) => each.id)).toEqual(["tpl1", "tpl2", "pods"]);
  const other = await create({ name: "other" });
  expect((await call("DELETE", `/serverless/${id}`)).status).toBe(204);
  expect((await call("DELETE", `/serverless/${other}`)).status).toBe(204);
  expect(emulator.templates.list().map((each) => each.id)).toEqual(["tpl1", "tpl2", "pods"]);
});

test("[v2.delete-status] [v2.delete-workers] [v2.workers] deleting an endpoint ends its workers", async () => {
  const id = await create({ workers: { min: 2, max: 2 } });
  const { body } = await call("GET", `/serverless/${id}/workers`);
  expect(body.workers).toHaveLength(2);
  expect(body.workers[0]).toMatchObject({ id: expect.any(String), isStale: false, image: "me/one:1" });
  expect(body.summary.total).toBe(2);
  const deleted = await call("DELETE", `/serverless/${id}`);
  expect(deleted).toMatchObject({ status: 204, body: undefined });
  expect((await call("DELETE", `/serverless/${id}`)).status).toBe(404);
  expect((await call("GET", `/serverless/${id}/workers`)).status).toBe(404);
});

test("[v2.countries] an endpoint whose locations are countries lists all data centers in these countries", async () => {
  emulator.seed({
    endpoints: [{ id: "ep1", name: "a", gpuIds: "ADA_24", templateId: "tpl1", locations: "CZ,RO,US-KS-2" }],
  });
  const { body } = await call("GET", "/serverless/ep1");
  expect(body.dataCenterIds).toEqual(["EU-CZ-1", "EU-RO-1", "EU-RO-2", "US-KS-2"]);
  await call("PATCH", "/serverless/ep1", { dataCenterIds: ["EU-CZ-1"] });
  expect(emulator.endpoints.get("ep1")).toMatchObject({ locations: "EU-CZ-1" });
});

test("[v2.bound-change] changing the container changes the template that belongs to the endpoint", async () => {
  const own = {
    image: "me/own:1",
    args: "serve",
    disk: 30,
    env: { A: "b" },
    ports: ["80/http"],
    registry: "reg",
  };
  const { body } = await call("POST", "/serverless", { ...NEW_ENDPOINT, templateId: undefined, ...own });
  expect(body).toMatchObject(own);
  const changes = { image: "me/own:2", args: "", disk: 40, env: { C: "d" }, ports: [], registry: null };
  expect((await call("PATCH", `/serverless/${body.id}`, changes)).body).toMatchObject(changes);
  expect((await call("PATCH", `/serverless/${body.id}`, { image: "me/own:3" })).body).toMatchObject({
    ...changes,
    image: "me/own:3",
  });
  const templates = emulator.templates.list().filter(({ boundEndpointId }) => boundEndpointId === body.id);
  expect(templates).toMatchObject([{ imageName: "me/own:3", env: [{ key: "C", value: "d" }], containerDiskInGb: 40 }]);
  expect(emulator.endpoints.get(body.id)?.templateId).toBe(templates[0]?.id);
  emulator.templates.change(templates[0]?.id ?? "", { imageName: "me/own:4" });
  expect((await call("GET", `/serverless/${body.id}`)).body.image).toBe("me/own:4");
});

test("[v2.cpu-shown] [v2.compute-fixed] an endpoint on CPUs shows their memory, and cannot change to GPUs", async () => {
  const cpu = [
    { id: "cpu3g", vcpuCount: 4 },
    { id: "cpu5c", vcpuCount: 2 },
  ];
  const { status, body } = await call("POST", "/serverless", { ...NEW_ENDPOINT, gpu: undefined, cpu });
  expect({ status, gpu: body.gpu }).toEqual({ status: 201, gpu: null });
  expect(body.cpu).toEqual([
    { id: "cpu3g", vcpuCount: 4, memory: 16 },
    { id: "cpu5c", vcpuCount: 2, memory: 4 },
  ]);
  const change = (fields: object) => call("PATCH", `/serverless/${body.id}`, fields);
  expect((await change({ cpu: cpu.slice(1) })).body.cpu).toHaveLength(1);
  expect((await change({ gpu: { count: 2 } })).status).toBe(400);
  const other = await create({ name: "other" });
  expect((await call("PATCH", `/serverless/${other}`, { cpu })).status).toBe(400);
  expect(emulator.endpoints.get(body.id)).toMatchObject({ computeType: "CPU", instanceIds: ["cpu5c-2-4"], gpuIds: "" });
  expect((await call("GET", `/serverless/${other}`)).body).not.toHaveProperty("cpu");
});

test("[v2.load-balancer-scaling] [v2.request-urls] [v2.type-fixed] a load balancer uses other URLs and cannot change its type", async () => {
  const scaling = { type: "REQUEST_COUNT", requestCount: 2 };
  const { status, body } = await call("POST", "/serverless", { ...NEW_ENDPOINT, type: "LOAD_BALANCER", scaling });
  expect(status).toBe(201);
  expect(body).toMatchObject({ type: "LOAD_BALANCER", scaling, workers: { min: 0, max: 3, idleTimeout: 5 } });
  expect(body.requestUrls).toEqual({
    base: `${emulator.url}/lb/${body.id}`,
    health: `${emulator.url}/v2/${body.id}/health`,
  });
  const change = (fields: object) => call("PATCH", `/serverless/${body.id}`, fields);
  expect((await change({ type: "QUEUE" })).status).toBe(422);
  expect((await change({ scaling: { type: "QUEUE_DELAY", queueDelay: 4 } })).status).toBe(422);
  expect((await change({ workers: { idleTimeout: 9 } })).body.workers.idleTimeout).toBe(9);
  const queue = (await call("GET", `/serverless/${await create()}`)).body;
  const names = ["cancel", "health", "purgeQueue", "retry", "run", "runSync", "status", "stream"];
  expect(Object.keys(queue.requestUrls).sort()).toEqual(names);
  expect(queue.requestUrls.status).toBe(`${emulator.url}/v2/${queue.id}/status/{job_id}`);
});

test("[v2.volumes] several volumes are replaced as a whole, and a single volume is the same as networkVolumeId", async () => {
  const id = await create({ networkVolumes: ["ro1", "cz"] });
  const read = async () => (await call("GET", `/serverless/${id}`)).body.networkVolumes;
  expect(await read()).toEqual(["ro1", "cz"]);
  await call("PATCH", `/serverless/${id}`, { networkVolumes: ["cz"] });
  expect(await read()).toEqual(["cz"]);
  expect(emulator.endpoints.get(id)).toMatchObject({ networkVolumeId: "cz", networkVolumeIds: null });
  await call("PATCH", `/serverless/${id}`, { networkVolumes: [] });
  expect(await read()).toEqual([]);
});

test("[v2.timeout] [v2.timeout-shown] a create without timeout sets no limit, but over GraphQL the default applies", async () => {
  const timeoutOf = async (id: string) => (await call("GET", `/serverless/${id}`)).body.timeout;
  expect(await timeoutOf(await create())).toBe(0);
  expect(await timeoutOf(await create({ timeout: 1_800_000 }))).toBe(1_800_000);
  emulator.seed({ endpoints: [{ id: "ep2", name: "a", gpuIds: "ADA_24", templateId: "tpl1" }] });
  expect(await timeoutOf("ep2")).toBe(600_000);
});

test("an empty list clears one CUDA rule, an empty string clears the other, and neither affects the other rule", async () => {
  const id = await create({ gpu: { pools: ["ADA_24"], count: 2, minCudaVersion: "12.8" } });
  const change = async (gpu: object) => (await call("PATCH", `/serverless/${id}`, { gpu })).body.gpu;
  expect(await change({ count: 1 })).toMatchObject({ count: 1, minCudaVersion: "12.8", allowedCudaVersions: [] });
  expect(await change({ allowedCudaVersions: ["12.8", "12.9"], minCudaVersion: "" })).toMatchObject({
    minCudaVersion: null,
    allowedCudaVersions: ["12.8", "12.9"],
  });
  expect(await change({ allowedCudaVersions: [] })).toMatchObject({ minCudaVersion: null, allowedCudaVersions: [] });
});

test("[v2.list-lag] a list can lag behind a change by a long time, but a read of one record by at most 2.5 s", async () => {
  emulator.faults.add({ match: { operation: "listEndpoints" }, effect: { listLagMs: 60_000 }, times: 1 });
  await create();
  expect((await call("GET", "/serverless")).body.endpoints).toEqual([]);
  expect((await call("GET", "/serverless")).body.endpoints).toHaveLength(1);
});
