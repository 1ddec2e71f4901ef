import { type EmulatorOptions, startEmulator } from "../../emulator";
import { startDynamicProvider } from "../support/dynamicProvider";

const SECRET = "planted-secret-31c7";
const SMOKE_TEST = 'exports.handler = () => require("pulumi-serverless-gpu/handlers").smokeTestV1;';
/** Longer than the time after which a wait says why, in seconds. */
const TIMEOUT = 45;
const ENDPOINT = { name: "one", gpuIds: "ADA_24", imageName: "app:1", env: { API_TOKEN: SECRET } };

async function start(options: EmulatorOptions, api: "graphql" | "v2") {
  const emulator = await startEmulator({ profile: "observed", coldStartMs: 0, drainMs: 100, ...options });
  const provider = await startDynamicProvider({ ...emulator.env, SERVERLESS_GPU_API: api });
  const failure = async (operation: Promise<unknown>): Promise<string> => {
    const error = await operation.then(
      () => new Error("it should have failed"),
      (reason: Error) => reason,
    );
    const shown = `${error.message}\n${provider.output()}`;
    for (const secret of [SECRET, emulator.apiKey]) expect(shown).not.toContain(secret);
    await provider.stop();
    await emulator.stop();
    return shown;
  };
  return { emulator, provider, failure };
}

/** Each waits for most of a minute, so they run at once. */
const waits = {
  async awaitReady() {
    const { emulator, provider, failure } = await start({}, "v2");
    emulator.faults.add({ match: { pool: "ADA_24" }, effect: { soldOut: true } });
    const settings = { ...ENDPOINT, workersMin: 1, awaitReady: true, awaitReadyTimeout: TIMEOUT };
    return failure(provider.create(settings));
  },
  async drain() {
    const { emulator, provider, failure } = await start(
      { handlers: { default: () => new Promise(() => {}) } },
      "graphql",
    );
    const { id, outputs } = await provider.create({ ...ENDPOINT, workersMin: 1, drainTimeout: TIMEOUT });
    await fetch(`${emulator.url}/v2/${id}/run`, {
      method: "POST",
      body: JSON.stringify({ input: { prompt: "x" } }),
      headers: { authorization: `Bearer ${emulator.apiKey}`, "content-type": "application/json" },
    });
    return failure(provider.delete(id, outputs));
  },
  async smokeTest() {
    const { provider, failure } = await start({}, "v2");
    const { id } = await provider.create({ ...ENDPOINT, workersMax: 0 });
    const inputs = { __provider: SMOKE_TEST, endpointId: id, input: { prompt: SECRET }, timeout: TIMEOUT };
    return failure(provider.create(inputs));
  },
};

const running: Partial<Record<keyof typeof waits, Promise<string>>> = {};
beforeAll(() => {
  for (const name of Object.keys(waits) as (keyof typeof waits)[]) {
    running[name] = waits[name]();
    running[name]?.catch(() => {});
  }
});

test("awaitReady reports why the workers do not start, in one line and in its error", async () => {
  const shown = await running.awaitReady;
  expect(shown).toContain(
    "one: why it waits: its GPU pools are sold out in the data centers that it allows (likely). Add GPU pools to gpuIds",
  );
  expect(shown?.match(/why it waits/g)).toHaveLength(1);
  expect(shown).toMatch(
    /0 of 1 workers ready after 45 s[\s\S]*\. The reason, as seen \d+ s ago: its GPU pools are sold out/,
  );
});

test("a drain reports why the workers do not stop", async () => {
  const shown = await running.drain;
  expect(shown).toContain("one: why it waits: its workers still run jobs (likely). Wait, cancel the jobs");
  expect(shown).toMatch(
    /was not deleted within 45 s[\s\S]*\. The reason, as seen \d+ s ago: its workers still run jobs/,
  );
});

test("a smoke test reports why its job does not start", async () => {
  const shown = await running.smokeTest;
  expect(shown).toContain(
    "why it waits: no worker can start, because its workersMax is 0 (certain). Set workersMax to 1",
  );
  expect(shown).toMatch(/did not end within 45 s, so this run cancelled it[\s\S]*Most likely: no worker can start/);
});
