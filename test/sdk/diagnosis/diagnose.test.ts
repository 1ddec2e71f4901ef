import { inspect } from "node:util";
import type { CauseId } from "../../../sdk/diagnosis/causes";
import { linesIn } from "../../../sdk/diagnosis/words";
import { collect } from "../../support/collect";
import { CANARY, type Emulated, startEmulated } from "../../support/emulated";

const APIS = ["graphql", "v2"] as const;
type Api = (typeof APIS)[number];

const SECRET = "planted-secret-5f21";
const MINUTE = 60_000;

function start(api: Api, emulator: object = {}): Promise<Emulated> {
  return startEmulated({
    emulator: { profile: "observed", rateLimits: { management: "off", graphql: "off" }, ...emulator },
    client: { api, service: "runpod" },
  });
}

const SETTINGS = { templateId: "t", gpuIds: "ADA_24", workersMax: 1 };

async function create({ client, run }: Emulated, settings: object = {}): Promise<string> {
  return (await run(client.endpoints.create({ name: "llama", ...SETTINGS, ...settings }))).id;
}

async function diagnose({ client, run }: Emulated, id: string, options = {}) {
  const diagnosis = await run(client.endpoints.diagnose(id, options));
  return { ids: diagnosis.causes.map(({ id: cause }) => cause), certainty: diagnosis.certainty, diagnosis };
}

/** Puts an endpoint with a waiting job into a state, and returns its id. */
type Setup = (emulated: Emulated) => Promise<string>;

const withFault =
  (effect: object, settings: object = {}): Setup =>
  async (emulated) => {
    const id = await create(emulated, settings);
    emulated.emulator.faults.add({ match: { endpointId: id }, effect });
    await emulated.run(emulated.client.endpoint(id).run({ input: {} }));
    await emulated.clock.advance(1000);
    return id;
  };

const withStock =
  (match: object, settings: object = {}): Setup =>
  async (emulated) => {
    emulated.emulator.faults.add({ match, effect: { soldOut: true } });
    const id = await create(emulated, settings);
    await emulated.run(emulated.client.endpoint(id).run({ input: {} }));
    return id;
  };

const CASES: readonly (readonly [
  title: string,
  Setup,
  Readonly<Record<Api, readonly [readonly CauseId[], string]>>,
])[] = [
  [
    "workersMax is 0",
    (emulated) => create(emulated, { workersMax: 0 }),
    { v2: [["no-workers-allowed"], "certain"], graphql: [["no-workers-allowed"], "certain"] },
  ],
  [
    "the service has lowered workersMax after a week",
    async (emulated) => {
      const id = await create(emulated);
      await emulated.clock.advance(7 * 24 * 60 * MINUTE);
      return id;
    },
    { v2: [["no-workers-allowed"], "certain"], graphql: [["no-workers-allowed"], "certain"] },
  ],
  [
    "there is no such endpoint",
    async () => "nope12345678",
    { v2: [["not-found"], "certain"], graphql: [["not-found"], "certain"] },
  ],
  [
    "the image cannot be pulled",
    withFault({ imagePullError: true }),
    {
      v2: [["image-pull"], "likely"],
      graphql: [["cold-start", "crash-loop", "image-pull", "image-pulling"], "likely"],
    },
  ],
  [
    "the image is still being pulled",
    withFault({ imagePullMs: 10 * MINUTE }),
    {
      v2: [["image-pulling"], "likely"],
      graphql: [["cold-start", "crash-loop", "image-pull", "image-pulling"], "likely"],
    },
  ],
  [
    "the container crashes again and again",
    async (emulated) => {
      const id = await withFault({ crashLoop: true })(emulated);
      await emulated.clock.advance(MINUTE);
      return id;
    },
    {
      v2: [["crash-loop"], "likely"],
      graphql: [["cold-start", "crash-loop", "image-pull", "image-pulling"], "likely"],
    },
  ],
  [
    "the container has crashed for ten minutes",
    async (emulated) => {
      const id = await withFault({ crashLoop: true })(emulated);
      await emulated.clock.advance(10 * MINUTE);
      return id;
    },
    { v2: [["crash-loop"], "likely"], graphql: [["crash-loop", "image-pull"], "likely"] },
  ],
  [
    "workers take no jobs",
    withFault({ takesNoJobs: true }, { idleTimeout: 600 }),
    { v2: [["handler-takes-no-jobs"], "likely"], graphql: [["handler-takes-no-jobs", "crash-loop"], "likely"] },
  ],
  [
    "a worker is throttled",
    withFault({ throttleWorkerMs: 10 * MINUTE }),
    { v2: [["throttled", "crash-loop"], "likely"], graphql: [["throttled", "crash-loop"], "likely"] },
  ],
  [
    "nothing is in stock",
    withStock({ pool: "ADA_24" }),
    { v2: [["no-stock"], "likely"], graphql: [["no-stock"], "likely"] },
  ],
  [
    "nothing is in stock where the volume is",
    async (emulated) => {
      emulated.emulator.seed({ volumes: [{ id: "v", name: "v", size: 10, dataCenterId: "EU-RO-1" }] });
      return withStock({ pool: "ADA_24", dataCenterId: "EU-RO-1" }, { networkVolumeId: "v" })(emulated);
    },
    { v2: [["volume-place"], "likely"], graphql: [["volume-place"], "likely"] },
  ],
  [
    "the machines with the CUDA version are taken",
    withStock({ pool: "ADA_24", cudaVersion: "12.8" }, { minCudaVersion: "12.8" }),
    { v2: [["cuda-version"], "likely"], graphql: [["cuda-version"], "likely"] },
  ],
  [
    "the spend limit is reached",
    async (emulated) => {
      emulated.emulator.setSpendLimit(0);
      const id = await create(emulated);
      await emulated.run(emulated.client.endpoint(id).run({ input: {} }));
      return id;
    },
    { v2: [["spend-limit"], "likely"], graphql: [["spend-limit"], "likely"] },
  ],
  [
    "the quota is exceeded, and nothing is in stock",
    async (emulated) => {
      const id = await withStock({ pool: "ADA_24" }, { workersMax: 2 })(emulated);
      emulated.emulator.setWorkerQuota(1);
      return id;
    },
    { v2: [["worker-quota"], "likely"], graphql: [["worker-quota"], "likely"] },
  ],
  [
    "nothing waits",
    (emulated) => create(emulated),
    { v2: [["nothing-wrong"], "likely"], graphql: [["no-job-waits"], "likely"] },
  ],
];

describe.each(APIS)("over %s", (api) => {
  test.each(CASES)("%s", async (_title, setup, expected) => {
    await using emulated = await start(api);
    const id = await setup(emulated);
    const { ids, certainty, diagnosis } = await diagnose(emulated, id, { logs: true });
    expect([ids, certainty]).toEqual(expected[api]);
    for (const { ageMs, text } of diagnosis.evidence)
      expect([text, ageMs >= 0 && ageMs < 30_000]).toEqual([text, true]);
  });

  test("busy workers are likely the cause, because other causes could look the same", async () => {
    await using emulated = await start(api, { handlers: { default: () => new Promise(() => {}) } });
    const id = await create(emulated);
    for (let job = 0; job < 3; job++) await emulated.run(emulated.client.endpoint(id).run({ input: {} }));
    await emulated.clock.advance(1000);
    const { ids, certainty } = await diagnose(emulated, id);
    expect([ids, certainty]).toEqual([["workers-busy"], "likely"]);
    const draining = await diagnose(emulated, id, { awaited: "stop" });
    expect(draining.ids).toEqual(["jobs-running"]);
  });

  test("a key that the service rejects is a certain cause", async () => {
    await using emulated = await startEmulated({
      emulator: { profile: "observed" },
      client: { api, apiKey: "another-key-1" },
    });
    const { ids, certainty } = await diagnose(emulated, "abcdefgh1234");
    expect([ids, certainty]).toEqual([["no-access"], "certain"]);
  });

  test("unreadable evidence is reported as missing, and the rest of the diagnosis is still shown", async () => {
    await using emulated = await start(api);
    const id = await create(emulated, { workersMax: 0 });
    emulated.emulator.faults.add({ match: { operation: "health" }, effect: { status: 503 } });
    const { ids, diagnosis } = await diagnose(emulated, id);
    expect(ids).toEqual(["no-workers-allowed"]);
    const onlyV2 = api === "v2" ? [] : ["each worker", "the rollout"];
    expect(diagnosis.missing.map(({ what }) => what)).toEqual([...onlyV2, "its queue"]);
    emulated.emulator.faults.add({ effect: { status: 503 } });
    const blind = await diagnose(emulated, id);
    expect([blind.ids, blind.certainty]).toEqual([["unknown"], "unknown"]);
  });

  test("a diagnosis sends at most four requests if nothing waits, and ten otherwise", async () => {
    await using emulated = await start(api);
    const busy = await create(emulated, { workersMin: 1 });
    await emulated.clock.advance(MINUTE);
    const before = emulated.calls().length;
    await diagnose(emulated, busy);
    expect(emulated.calls().length - before).toBeLessThanOrEqual(4);
    emulated.emulator.seed({ volumes: [{ id: "v", name: "v", size: 10, dataCenterId: "EU-RO-1" }] });
    emulated.emulator.setWorkerQuota(10);
    const soldOut = await withStock({ pool: "ADA_24" }, { networkVolumeId: "v" })(emulated);
    const next = emulated.calls().length;
    await diagnose(emulated, soldOut);
    expect(emulated.calls().length - next).toBeLessThanOrEqual(10);
    const again = emulated.calls().length;
    await diagnose(emulated, soldOut);
    // The catalog, the limits and the volumes are those of the last minute.
    expect(emulated.calls().length - again).toBeLessThanOrEqual(4);
  });
});

test("a secret in a log, a variable or a release appears in no output", async () => {
  const handler = (_job: unknown, { log }: { log(line: string): void }) => {
    log(`connecting with ${SECRET}`);
    log("HF_TOKEN=hf_unknown_to_the_client_1234");
    return new Promise(() => {});
  };
  await using emulated = await start("v2", { handlers: { default: handler } });
  const { client, run, clock } = emulated;
  const id = await create(emulated, { templateId: undefined, imageName: "app:1", env: { API_TOKEN: `old-${SECRET}` } });
  await run(client.endpoints.update(id, { env: { API_TOKEN: SECRET } }));
  for (let job = 0; job < 2; job++) await run(client.endpoint(id).run({ input: { job } }));
  await clock.advance(1000);
  const diagnosis = await run(client.endpoints.diagnose(id, { logs: true }));
  expect(diagnosis.lines.map(({ line }) => line)).toContainEqual("connecting with [redacted]");
  expect(diagnosis.lines.map(({ line }) => line)).toContainEqual("HF_TOKEN=[redacted]");
  expect(diagnosis.evidence.map(({ text }) => text).join()).toContain("template.env");
  const lines = run(collect(client.endpoints.logs(id)));
  const shown = [
    inspect(diagnosis, { depth: 10 }),
    linesIn(diagnosis).join("\n"),
    JSON.stringify(diagnosis),
    inspect(await lines),
  ].join();
  for (const secret of [SECRET, "hf_unknown", CANARY]) expect(shown).not.toContain(secret);
});

test("if the service does not support reading single endpoints, the endpoint comes from the list", async () => {
  await using emulated = await startEmulated();
  emulated.emulator.seed({
    endpoints: [
      { id: "offoffoff123", name: "off", templateId: "t", gpuIds: "ADA_24", workersMax: 0 },
      { id: "slowslow1234", name: "slow", templateId: "t", gpuIds: "ADA_24", workersMin: 1 },
    ],
  });
  expect((await diagnose(emulated, "offoffoff123")).ids).toEqual(["no-workers-allowed"]);
  emulated.emulator.faults.add({ effect: { imagePullMs: 5 * MINUTE } });
  emulated.emulator.endpoints.change("slowslow1234", { gpuIds: "ADA_24,AMPERE_16" });
  // This service shows only two counts of workers, so the third comes from the pods.
  const slow = await diagnose(emulated, "slowslow1234", { awaited: "workers" });
  expect(slow.ids[0]).toBe("cold-start");
  expect(emulated.calls().filter((name) => name === "myself").length).toBe(5);
});

test("invalid options are refused before any request", async () => {
  await using emulated = await start("v2");
  const { client, failure } = emulated;
  expect((await failure(client.endpoints.diagnose("abc", { awaited: "rain" as "jobs" }))).message).toContain("awaited");
  expect((await failure(client.endpoints.diagnose("a/b"))).message).toContain("endpointId");
  expect(emulated.calls()).toEqual([]);
});
