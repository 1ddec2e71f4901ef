import {
  type Emulator,
  type EmulatorOptions,
  type HandlerContext,
  type HandlerJob,
  manualClock,
  startEmulator,
} from "../../../emulator";
import { getPod, graphql, send } from "../../support/plainClient";

const MINUTE = 60_000;
let emulator: Emulator;
let endpointId: string;
const clock = () => emulator.clock as ReturnType<typeof manualClock>;
afterEach(() => emulator.stop());

/** Each job says which revision of the template it runs with. */
const handlers = {
  default: async ({ input }: HandlerJob, { sleep, imageName, env }: HandlerContext) => {
    await sleep((input.ms as number) ?? 0);
    return `${imageName} ${env.MODEL}`;
  },
};

async function start(endpoint = {}, options: EmulatorOptions = {}) {
  emulator = await startEmulator({
    profile: "contract",
    clock: manualClock(),
    coldStartMs: 1000,
    drainMs: 0,
    handlers,
    ...options,
  });
  emulator.templates.create({ id: "t", name: "t", imageName: "app:1", env: [{ key: "MODEL", value: "a" }] });
  const fields = { name: "e", gpuIds: "ADA_24", templateId: "t", workersMin: 1, workersMax: 1 };
  endpointId = emulator.endpoints.create({ ...fields, ...endpoint }).id;
  await clock().advance(1000);
}

const record = () => emulator.endpoints.get(endpointId) as NonNullable<ReturnType<Emulator["endpoints"]["get"]>>;
const change = (patch: object) => emulator.templates.change("t", patch);
const authorization = () => ({ authorization: `Bearer ${emulator.apiKey}`, "content-type": "application/json" });

async function run(ms = 0): Promise<string> {
  const body = JSON.stringify({ input: { ms } });
  return (await send(`${emulator.url}/v2/${endpointId}/run`, { method: "POST", headers: authorization(), body })).body
    .id;
}

async function output(id: string): Promise<unknown> {
  return (await send(`${emulator.url}/v2/${endpointId}/status/${id}`, { headers: authorization() })).body.output;
}

const workers = () => record().pods.map(({ container, slsVersion }) => `${container.imageName} ${slsVersion}`);

test("[workers.container] a job runs with the image and the variables of the template", async () => {
  await start();
  const job = await run();
  await clock().advance(1);
  expect(await output(job)).toBe("app:1 a");
  expect(record().pods[0]?.container).toEqual({
    templateId: "t",
    imageName: "app:1",
    env: { MODEL: "a" },
    cmd: [],
    entrypoint: [],
    dockerArgs: "",
    containerDiskInGb: 20,
    ports: [],
    containerRegistryAuthId: null,
  });
});

test("[workers.pod-container] the pod of a worker shows its image and variables, including the service's variables", async () => {
  await start();
  change({ ports: "80/http", containerDiskInGb: 33, containerRegistryAuthId: "reg" });
  await clock().advance(1000);
  const [pod] = record().pods;
  const { body } = await getPod(emulator, `${pod?.id}?includeWorkers=true&includeTemplate=true`);
  expect(body).toMatchObject({
    image: "app:1",
    containerDiskInGb: 33,
    ports: ["80/http"],
    containerRegistryAuthId: "reg",
    templateId: "t",
    template: { id: "t", imageName: "app:1" },
    slsVersion: 1,
    env: { MODEL: "a", ENDPOINT_ID: endpointId, POD_ID: pod?.id },
  });
});

describe("[workers.rollout] a change of", () => {
  test.each([
    { imageName: "app:2" },
    { env: [{ key: "MODEL", value: "b" }] },
    { dockerArgs: "serve" },
    { containerDiskInGb: 30 },
    { ports: "80/http" },
    { containerRegistryAuthId: "reg" },
  ])("%j replaces idle workers at once", async (patch) => {
    await start();
    const [before] = record().pods;
    change(patch);
    expect(record().version).toBe(1);
    expect(record().pods).toHaveLength(1);
    expect(record().pods[0]?.id).not.toBe(before?.id);
    expect(record().pods[0]?.slsVersion).toBe(1);
  });

  test("the template lets a running job finish, and the next job runs the new version", async () => {
    await start();
    const first = await run(MINUTE);
    await clock().advance(1);
    change({ imageName: "app:2", env: [{ key: "MODEL", value: "b" }] });
    const second = await run();
    await clock().advance(MINUTE / 2);
    expect(workers()).toEqual(["app:1 0"]);
    await clock().advance(MINUTE);
    expect([await output(first), await output(second)]).toEqual(["app:1 a", "app:2 b"]);
    expect(workers()).toEqual(["app:2 1"]);
  });

  test("the template starts a new worker next to the busy one if workersMax allows it", async () => {
    await start({ workersMax: 2 });
    await run(MINUTE);
    await clock().advance(1);
    change({ imageName: "app:2" });
    expect(workers()).toEqual(["app:1 0", "app:2 1"]);
  });
});

test("[myself.version] [myself.pod-ids] the observed profile shows the version of an endpoint and the ids of its pods", async () => {
  await start({}, { profile: "observed" });
  const ask = () => graphql(emulator, "{ myself { endpoints { version pods { id desiredStatus } } } }");
  const [pod] = record().pods;
  const shown = { version: 0, pods: [{ id: pod?.id, desiredStatus: "RUNNING" }] };
  expect((await ask()).body.data.myself.endpoints).toEqual([shown]);
  change({ imageName: "app:2" });
  expect((await ask()).body.data.myself.endpoints).toMatchObject([{ version: 1 }]);
  await using contract = await startEmulator({ profile: "contract" });
  expect((await graphql(contract, "{ myself { endpoints { version } } }")).status).toBe(400);
  expect((await graphql(contract, "{ myself { endpoints { pods { id } } } }")).status).toBe(400);
});

test("[workers.rollout-none] a save that changes no worker field replaces no worker", async () => {
  await start();
  const [before] = record().pods;
  change({ readme: "new", name: "other", isPublic: false, imageName: "app:1", env: [{ key: "MODEL", value: "a" }] });
  expect([record().version, record().pods]).toEqual([0, [before]]);
});

test("a change to a template of other endpoints replaces no worker", async () => {
  await start({ templateId: "other" });
  const [before] = record().pods;
  change({ imageName: "app:2" });
  expect(record().pods).toEqual([before]);
});

test("[workers.rollout-template] another templateId replaces idle workers at once and busy workers after their job", async () => {
  await start({ workersMin: 2, workersMax: 2 });
  emulator.templates.create({ id: "t2", name: "t2", imageName: "app:2", env: [{ key: "MODEL", value: "b" }] });
  const first = await run(MINUTE);
  await clock().advance(1);
  emulator.endpoints.change(endpointId, { templateId: "t2" });
  expect(workers()).toEqual(["app:1 0", "app:2 1"]);
  await clock().advance(2 * MINUTE);
  expect(await output(first)).toBe("app:1 a");
  expect(workers()).toEqual(["app:2 1", "app:2 1"]);
});

describe("[workers.stale-flashboot] with the option,", () => {
  const answer = async () => {
    const job = await run();
    await clock().advance(10_000);
    return output(job);
  };

  test("workers with FLASHBOOT, including new ones, keep the old version until workersMax is 0", async () => {
    await start({ workersMin: 0, flashBootType: "FLASHBOOT", idleTimeout: 1 }, { staleFlashBoot: true });
    expect(await answer()).toBe("app:1 a");
    change({ imageName: "app:2" });
    expect(await answer()).toBe("app:1 a");
    emulator.endpoints.change(endpointId, { workersMax: 0 });
    emulator.endpoints.change(endpointId, { workersMax: 1 });
    expect(await answer()).toBe("app:2 a");
  });

  test("another templateId still reaches workers with FLASHBOOT", async () => {
    await start({ flashBootType: "FLASHBOOT" }, { staleFlashBoot: true });
    emulator.endpoints.change(endpointId, { templateId: "t2" });
    expect(workers()).toEqual(["example/image:latest 1"]);
  });

  test("workers without FLASHBOOT get the new version", async () => {
    await start({}, { staleFlashBoot: true });
    change({ imageName: "app:2" });
    expect(await answer()).toBe("app:2 a");
  });
});
