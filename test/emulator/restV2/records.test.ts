import { type Emulator, startEmulator } from "../../../emulator";
import { callV2 } from "./call";

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0 });
});
afterEach(() => emulator.stop());

const call = (method: string, path: string, body?: unknown) => callV2(emulator, method, path, body);

test("[v2.template-defaults] a template with only a name and an image gets the defaults", async () => {
  const { status, body } = await call("POST", "/templates", { name: "t", image: "me/t:1" });
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.any(String),
    name: "t",
    image: "me/t:1",
    args: "",
    cmd: [],
    entrypoint: [],
    disk: 20,
    mounts: {},
    ports: [],
    env: {},
    registry: null,
    serverless: false,
    public: false,
    category: "NVIDIA",
    startSsh: true,
    startJupyter: true,
    allowedCudaVersions: [],
  });
  const changed = await call("PATCH", `/templates/${body.id}`, { env: { A: "1" }, ports: ["22/tcp"] });
  expect(changed.body).toEqual({ ...body, env: { A: "1" }, ports: ["22/tcp"] });
  expect((await call("GET", `/templates/${body.id}`)).body).toEqual(changed.body);
  expect((await call("POST", "/templates", { name: "t", image: "me/t:1" })).body.detail).toBe(
    "Template name must be unique",
  );
  expect((await call("DELETE", `/templates/${body.id}`)).status).toBe(204);
});

test("[v2.tags] tags are not emulated", async () => {
  expect((await call("GET", "/tags?include=resources")).status).toBe(404);
});

test("[v2.template-in-use] a template that a GraphQL endpoint uses cannot be deleted", async () => {
  emulator.seed({
    templates: [{ id: "tpl1", name: "one", imageName: "me/one:1" }],
    endpoints: [{ id: "ep1", name: "a", gpuIds: "ADA_24", templateId: "tpl1", workersMax: 0 }],
  });
  expect((await call("DELETE", "/templates/tpl1")).status).toBe(400);
  await call("PATCH", "/serverless/ep1", { templateId: "tpl1" });
  // The endpoint has a container of its own now.
  expect((await call("DELETE", "/templates/tpl1")).status).toBe(204);
});

test("[v2.volume-shrink] a network volume can grow but never shrink", async () => {
  const given = { name: "v", size: 20, dataCenter: "EU-RO-1", type: "HIGH_PERFORMANCE" };
  const { status, body } = await call("POST", "/network-volumes", given);
  expect(status).toBe(201);
  expect(body).toEqual({ id: expect.any(String), ...given });
  expect((await call("PATCH", `/network-volumes/${body.id}`, { size: 30 })).body.size).toBe(30);
  expect((await call("PATCH", `/network-volumes/${body.id}`, { size: 20 })).status).toBe(400);
  expect((await call("PATCH", `/network-volumes/${body.id}`, {})).status).toBe(422);
  expect((await call("DELETE", `/network-volumes/${body.id}`)).status).toBe(204);
});

test("[v2.registry-fixed] [v2.registry-in-use] a registry credential cannot be changed, and is kept while a pod uses it", async () => {
  const given = { name: "ghcr", username: "me", password: "very-secret" };
  const { status, body } = await call("POST", "/registries", given);
  expect([status, body]).toEqual([201, { id: expect.any(String), name: "ghcr" }]);
  expect((await call("PATCH", `/registries/${body.id}`, { password: "other" })).status).toBe(405);
  emulator.pods.add({ id: "pod1", name: "trainer", containerRegistryAuthId: body.id });
  expect((await call("DELETE", `/registries/${body.id}`)).body.detail).toContain('pod "trainer"');
  emulator.pods.remove("pod1");
  emulator.seed({ templates: [{ id: "t", name: "t", imageName: "a:1", containerRegistryAuthId: body.id }] });
  expect((await call("DELETE", `/registries/${body.id}`)).status).toBe(204);
  expect((await call("GET", "/templates/t")).body.registry).toBeNull();
  expect(JSON.stringify(emulator.journal.requests())).not.toContain("very-secret");
});

test("[v2.pod] [v2.pod-fields] a pod uses the field names of REST v2, and a worker is not a pod", async () => {
  emulator.pods.add({
    id: "pod1",
    name: "trainer",
    image: "me/p:1",
    costPerHr: 0.5,
    containerDiskInGb: 30,
    volumeInGb: 40,
    portMappings: { "22": 10341 },
    publicIp: "192.0.2.1",
    env: { A: "1" },
    ports: ["22/tcp"],
  });
  const { body } = await call("GET", "/pods/pod1");
  expect(body).toMatchObject({
    id: "pod1",
    name: "trainer",
    status: "RUNNING",
    cost: 0.5,
    image: "me/p:1",
    disk: 30,
    env: { A: "1" },
    mounts: { persistent: { size: 40, path: "/workspace" } },
    runtime: { ports: [{ private: 22, public: 10341, ip: "192.0.2.1" }] },
  });
  emulator.pods.add({ id: "worker1", endpointId: "ep1" });
  expect((await call("GET", "/pods/worker1")).status).toBe(404);
  expect((await call("GET", "/pods/none")).status).toBe(404);
});

test("the catalog lists the data centers", async () => {
  const { body } = await call("GET", "/catalog/datacenters");
  expect(body.dataCenters).toContainEqual(expect.objectContaining({ id: "EU-RO-1" }));
});
