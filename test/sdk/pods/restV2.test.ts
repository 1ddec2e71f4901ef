import { createClient } from "../../../sdk";
import { NotFoundError } from "../../../sdk/errors/errors";
import { type Emulated, startEmulated } from "../../support/emulated";

let site: Emulated;
beforeEach(async () => {
  site = await startEmulated({ client: { api: "v2" } });
});
afterEach(() => site[Symbol.asyncDispose]());

test("a pod of REST v2 uses the field names of the contract", async () => {
  const { client, run, emulator } = site;
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
    networkVolume: { id: "vol1", name: "v", size: 10, dataCenterId: "EU-RO-1" },
    machine: { dataCenterId: "EU-RO-1" },
  });
  expect(await run(client.pods.get("pod1"))).toMatchObject({
    id: "pod1",
    name: "trainer",
    image: "me/p:1",
    desiredStatus: "RUNNING",
    costPerHr: 0.5,
    containerDiskInGb: 30,
    volumeInGb: 40,
    volumeMountPath: "/workspace",
    networkVolume: { id: "vol1" },
    portMappings: { "22": 10341 },
    publicIp: "192.0.2.1",
    env: { A: "1" },
    ports: ["22/tcp"],
    locked: false,
    gpu: { id: "NVIDIA RTX A5000", count: 1 },
    machine: { dataCenterId: "EU-RO-1" },
  });
});

test("a worker's pod is not found, and the error explains why", async () => {
  const { client, failure, emulator } = site;
  emulator.pods.add({ id: "worker1", endpointId: "ep1" });
  const error = await failure(client.pods.get("worker1", { includeWorkers: true }));
  expect(error).toBeInstanceOf(NotFoundError);
  expect(error.message).toContain("REST v2 does not find the pods of serverless workers by their id");
});

test("when the service has retired REST v1, pods are read over REST v2, even by a GraphQL client", async () => {
  const { emulator } = site;
  emulator.pods.add({ id: "pod1", name: "trainer" });
  const { SERVERLESS_GPU_API_KEY: apiKey = "" } = emulator.env;
  const { url } = emulator;
  await using client = createClient({ apiKey, service: "runpod", api: "graphql", graphqlUrl: url, queueUrl: url });
  expect(await client.pods.get("pod1")).toMatchObject({ id: "pod1", name: "trainer" });
  expect(emulator.journal.requests().map(({ path }) => path)).toEqual(["/v2/pods/pod1"]);
});
