import { setTimeout as sleep } from "node:timers/promises";
import { type Emulator, startEmulator } from "../../emulator";
import { heldJob, occupyWorker } from "../support/heldWorker";
import { createStack, endpointsIn, type PulumiStack } from "./harness";

const PROVIDER_TEXT = 'exports.handler = () => require("pulumi-serverless-gpu/handlers").v1;';

/** The management interface: `npm run test:lifecycle-v2` runs the same tests over REST v2. */
const API = process.env.LIFECYCLE_API === "v2" ? "v2" : "graphql";

/** The requests of each interface. */
const REQUESTS = {
  graphql: {
    list: "myself",
    create: "saveEndpoint",
    change: "saveEndpoint",
    created: {
      name: "full",
      gpuIds: "ADA_24,AMPERE_24,-NVIDIA L4",
      templateId: "template-1",
      idleTimeout: 30,
      locations: "CZ,RO",
      flashBootType: "FLASHBOOT",
      scalerType: "REQUEST_COUNT",
      scalerValue: 2,
      workersMin: 1,
      workersMax: 2,
      networkVolumeId: "volume-1",
    },
    changed: {
      name: "full",
      gpuIds: "AMPERE_80",
      templateId: "template-1",
      idleTimeout: 30,
      locations: "",
      flashBootType: null,
      scalerType: "REQUEST_COUNT",
      scalerValue: 5,
      workersMin: 1,
      workersMax: 2,
      networkVolumeId: "volume-1",
    },
    scaledToZero: { workersMin: 0, workersMax: 0, gpuIds: "AMPERE_80" },
  },
  v2: {
    list: "listEndpoints",
    create: "createEndpoint",
    change: "updateEndpoint",
    created: {
      name: "full",
      type: "QUEUE",
      gpu: { pools: ["ADA_24", "AMPERE_24"], excludedTypes: ["NVIDIA L4"], count: 1 },
      templateId: "template-1",
      dataCenterIds: ["EU-CZ-1", "EU-RO-1", "EU-RO-2"],
      flashboot: "FLASHBOOT",
      scaling: { type: "REQUEST_COUNT", requestCount: 2 },
      workers: { min: 1, max: 2 },
      networkVolumes: ["volume-1"],
      timeout: 600_000,
    },
    changed: {
      gpu: { pools: ["AMPERE_80"] },
      dataCenterIds: [],
      flashboot: "OFF",
      scaling: { type: "REQUEST_COUNT", requestCount: 5 },
    },
    scaledToZero: { workers: { min: 0, max: 0 } },
  },
}[API];

/** Matches the operations that only read. */
const READS = /^(myself|list)/;

/** Two endpoints: one with every input, one with the required ones. */
function program(changes: Record<string, unknown> = {}): string {
  const full = {
    name: "full",
    gpuIds: ["ADA_24", "AMPERE_24", "-NVIDIA L4"],
    templateId: "template-1",
    idleTimeout: 30,
    locations: ["RO", "CZ"],
    flashBootType: "FLASHBOOT",
    scalerType: "REQUEST_COUNT",
    scalerValue: 2,
    workersMin: 1,
    workersMax: 2,
    networkVolumeId: "volume-1",
    ...changes,
  };
  return `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
const full = new ServerlessEndpoint("full", ${JSON.stringify(full)});
const [plain] = ["plain"].map(function declare(name) {
  return new ServerlessEndpoint(name, { gpuIds: "AMPERE_16", templateId: "template-2" });
});
exports.fullId = full.endpointId;
exports.plainName = plain.name;
exports.queueUrl = full.queueUrl;
`;
}

const job = heldJob();
let emulator: Emulator;
let stack: PulumiStack;

beforeAll(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 100, handlers: { default: job.handler } });
  stack = await createStack({ program: program(), env: { ...emulator.env, SERVERLESS_GPU_API: API } });
});

beforeEach(() => emulator.journal.clear());

afterAll(() => emulator.stop());

function endpoint(name: string) {
  const found = emulator.endpoints.list().find((each) => each.name.startsWith(name));
  if (!found) throw new Error(`the emulator has no endpoint ${name}`);
  return found;
}

function saves() {
  const requests = emulator.journal.requests().filter(({ operation }) => !READS.test(operation));
  return requests.flatMap(({ arguments: { input } }) => (input === undefined ? [] : [input]));
}

test("up creates each endpoint with a single save", async () => {
  // As users run it: the tests' cache of compiled code would show in the frames of the state.
  const { exitCode } = await stack.run(["up", "--yes", "--skip-preview"], { NODE_OPTIONS: "" });
  expect(exitCode).toBe(0);
  expect(saves()).toHaveLength(2);
  expect(saves()).toContainEqual(REQUESTS.created);
  const { id } = endpoint("full");
  expect(await stack.outputs()).toEqual({
    fullId: id,
    plainName: expect.stringMatching(/^plain-[0-9a-f]{7}$/),
    queueUrl: `${emulator.url}/v2/${id}`,
  });
});

test("state contains one short, stable line of provider code and the place where the program declares each endpoint", async () => {
  const endpoints = endpointsIn(await stack.exportState());
  expect(endpoints).toHaveLength(2);
  for (const { id, inputs, outputs, sourcePosition, stackTrace } of endpoints) {
    expect(sourcePosition).toMatch(/^project:\/\/\/index\.[jt]s#\d+,\d+$/);
    // The program's frames, without those of Node.js and Pulumi that started it. `Array.map` has no
    // position.
    const outer = id === endpoint("full").id ? [] : [{}, { sourcePosition: expect.stringMatching(/index\.[jt]s#4,/) }];
    expect(stackTrace).toEqual([{ sourcePosition }, ...outer]);
    expect(inputs?.__provider).toBe(PROVIDER_TEXT);
    expect(outputs?.__provider).toBe(PROVIDER_TEXT);
  }
  expect(Buffer.byteLength(PROVIDER_TEXT)).toBeLessThanOrEqual(80);
});

test("an equivalent program only reads the list of endpoints, once for all of them", async () => {
  await stack.writeProgram(program({ locations: " RO,CZ , RO", gpuIds: "ADA_24, AMPERE_24,-NVIDIA L4" }));
  const { output } = await stack.up("--expect-no-changes");
  expect(output).toContain("3 unchanged");
  expect(emulator.journal.operations()).toEqual([REQUESTS.list]);
});

test("a change is shown field by field and made in place with the full set of fields", async () => {
  const { id } = endpoint("full");
  await stack.writeProgram(program({ gpuIds: "AMPERE_80", locations: null, scalerValue: 5, flashBootType: undefined }));
  const { output } = await stack.preview("--diff");
  expect(output).toMatch(/~ gpuIds +: "ADA_24,AMPERE_24,-NVIDIA L4" => "AMPERE_80"/);
  expect(output).toMatch(/- locations +: "CZ,RO"/);
  expect(output).toMatch(/~ scalerValue +: 2 => 5/);
  expect(output).toMatch(/~ flashBootType *: "FLASHBOOT" => "OFF"/);
  expect(saves()).toEqual([]);
  emulator.journal.clear();

  await stack.up();
  expect(emulator.journal.operations()).toEqual([REQUESTS.list, REQUESTS.change]);
  expect(emulator.journal.requests({ operation: REQUESTS.change })).toMatchObject([{ endpointId: id }]);
  expect(saves()).toEqual([API === "v2" ? REQUESTS.changed : { id, ...REQUESTS.changed }]);
});

test("drift is shown field by field, and the next up repairs it", async () => {
  const { id } = endpoint("full");
  emulator.endpoints.change(id, { gpuIds: "AMPERE_48", workersMax: 1 });
  const drift = await stack.run(["refresh", "--preview-only", "--expect-no-changes", "--diff"]);
  expect(drift.exitCode).toBe(7);
  expect(drift.output).toMatch(/~ gpuIds +: "AMPERE_80" => "AMPERE_48"/);
  expect(drift.output).toMatch(/~ workersMax *: 2 => 1/);
  expect(emulator.journal.operations()).toEqual([REQUESTS.list]);

  await stack.refresh();
  await stack.up();
  expect(endpoint("full")).toMatchObject({ id, gpuIds: "AMPERE_80", workersMax: 2 });
  await stack.preview("--refresh", "--expect-no-changes");
});

test("fields that the program never set keep their values", async () => {
  const { id } = endpoint("plain");
  emulator.endpoints.change(id, { idleTimeout: 99, networkVolumeId: "volume-9" });
  await stack.writeProgram(program({ gpuIds: "AMPERE_80" }).replace('"AMPERE_16"', '"AMPERE_24"'));
  await stack.up("--refresh");
  expect(endpoint("plain")).toMatchObject({ id, gpuIds: "AMPERE_24", idleTimeout: 99, networkVolumeId: "volume-9" });
});

test("refresh removes an endpoint that was deleted elsewhere from state, and up creates it again", async () => {
  emulator.endpoints.delete(endpoint("plain").id);
  await stack.refresh();
  expect(endpointsIn(await stack.exportState())).toHaveLength(1);
  emulator.journal.clear();
  await stack.up();
  expect(saves()).toHaveLength(1);
  expect(emulator.endpoints.list()).toHaveLength(2);
});

test("a replacement deletes the old endpoint before it creates the new one", async () => {
  const { id, name } = endpoint("plain");
  await stack.run(["up", "--yes", "--skip-preview", "--target-replace", await urnOf("plain")]);
  const changes = emulator.journal.operations().filter((operation) => !READS.test(operation));
  expect(changes).toEqual([REQUESTS.change, "deleteEndpoint", REQUESTS.create]);
  expect(endpoint("plain")).toMatchObject({ name });
  expect(endpoint("plain").id).not.toBe(id);
});

test("destroy scales to zero, waits for the workers, deletes and verifies, even if an endpoint is already gone", async () => {
  const { id } = endpoint("full");
  emulator.endpoints.delete(endpoint("plain").id);
  await occupyWorker(emulator, id);
  emulator.journal.clear();
  // The worker has a job, and ends it after the provider has seen its pod.
  const destroying = stack.destroy();
  const hasSeenThePod = () => {
    const requests = emulator.journal.requests({ outcome: "ok" });
    const scaled = requests.findIndex(({ operation }) => operation === REQUESTS.change);
    // The first lists after the change may belong to the proof that the other endpoint is gone.
    const looks = requests.slice(scaled + 1).filter(({ operation }) => operation === REQUESTS.list);
    if (scaled < 0 || looks.length < 3) return false;
    return API === "graphql" || emulator.journal.requests({ operation: "listWorkers", outcome: "ok" }).length > 0;
  };
  while (!hasSeenThePod()) await sleep(20);
  job.release();
  const { output } = await destroying;
  expect(output).toContain("full: waiting for 1 worker to stop");
  const mine = emulator.journal
    .requests()
    .filter(({ operation, endpointId }) => operation === REQUESTS.list || endpointId === id);
  const operations = mine.map(({ operation }) => operation);
  expect(operations.filter((operation) => !READS.test(operation))).toEqual([REQUESTS.change, "deleteEndpoint"]);
  const saved = operations.indexOf(REQUESTS.change);
  const deleted = operations.indexOf("deleteEndpoint");
  expect(operations.slice(saved + 1, deleted).length).toBeGreaterThan(1);
  expect(operations.at(-1)).toBe(REQUESTS.list);
  expect(saves()).toContainEqual(expect.objectContaining(REQUESTS.scaledToZero));
  expect(emulator.endpoints.list()).toEqual([]);
  expect((await stack.exportState()).deployment.resources ?? []).toEqual([]);
});

async function urnOf(name: string): Promise<string> {
  const { deployment } = await stack.exportState();
  return deployment.resources?.find(({ urn }) => urn.endsWith(`::${name}`))?.urn ?? "";
}
