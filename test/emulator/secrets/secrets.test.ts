import { type Emulator, type EmulatorOptions, startEmulator } from "../../../emulator";
import { manualClock } from "../../../emulator/time/virtualClock";
import { graphql, mutate, refusedMutation } from "../../support/plainClient";
import { callV2 } from "../restV2/call";

const VALUE = "canary-value-1";
const SHOWN = "id name description createdAt updatedAt lastUpdatedAt lastRetrievedAt";

const clock = manualClock();
let emulator: Emulator;
const start = async (options: EmulatorOptions = {}) => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0, clock, ...options });
};
beforeEach(() => start());
afterEach(() => emulator.stop());

const call = (method: string, path: string, body?: unknown) => callV2(emulator, method, path, body);
const create = (name: string, value = VALUE) =>
  mutate(emulator, `secretCreate(input: { name: "${name}", value: "${value}" }) { ${SHOWN} }`);

test("[secret.create] [secret.list] [secret.times] GraphQL creates and lists secrets without their values", async () => {
  const { body } = await create("hf");
  const secret = body.data.secretCreate;
  expect(secret).toMatchObject({ name: "hf", description: "", lastUpdatedAt: secret.createdAt, lastRetrievedAt: null });
  const listed = await graphql(emulator, `{ myself { secrets { ${SHOWN} } } }`);
  expect(listed.body.data.myself.secrets).toEqual([secret]);
  expect((await graphql(emulator, "{ myself { secrets { value } } }")).status).toBe(400);
  expect(emulator.secrets.matches(secret.id, VALUE)).toBe(true);
  expect(JSON.stringify([emulator.secrets.list(), emulator.journal.requests()])).not.toContain("canary");
});

test("[secret.create] [secret.list] REST v2 creates and shows secrets, and finds them by name regardless of case", async () => {
  const { status, body } = await call("POST", "/account/secrets", { name: "hf", value: VALUE, description: "d" });
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.any(String),
    name: "hf",
    description: "d",
    createdAt: expect.any(String),
    valueLastUpdatedAt: body.createdAt,
  });
  await call("POST", "/account/secrets", { name: "other", value: VALUE });
  expect((await call("GET", "/account/secrets?name=HF")).body).toEqual({ secrets: [body] });
  expect((await call("GET", "/account/secrets")).body.secrets).toHaveLength(2);
  expect((await call("GET", `/account/secrets/${body.id}`)).body).toEqual(body);
});

test.each([
  ["", 422],
  ["1st", 422],
  ["a b", 422],
  ["x".repeat(192), 422],
  ["RunPod_key", 422],
  [`_${"x".repeat(190)}`, 201],
  ["a/b.c-d", 201],
])("[secret.name] creating a secret with the name %p returns %d", async (name, expected) => {
  expect((await call("POST", "/account/secrets", { name, value: VALUE })).status).toBe(expected);
  if (expected === 422) {
    await refusedMutation(emulator, `secretCreate(input: { name: "${name}", value: "v" }) { id }`);
  }
});

test("[secret.unique-name] [secret.name-case] a name that another secret uses is refused, regardless of case", async () => {
  await create("hf");
  for (const name of ["hf", "HF"]) {
    expect((await call("POST", "/account/secrets", { name, value: VALUE })).status).toBe(409);
    expect(await refusedMutation(emulator, `secretCreate(input: { name: "${name}", value: "v" }) { id }`)).toMatch(
      /already in use/,
    );
  }
});

test("[secret.value] [secret.description] a value requires at least one character, and a description is limited in length", async () => {
  const { id } = emulator.secrets.create({ name: "hf", value: VALUE });
  expect((await call("PATCH", `/account/secrets/${id}`, { value: "" })).status).toBe(422);
  expect((await call("PATCH", `/account/secrets/${id}`, { description: "ä".repeat(32_768) })).status).toBe(422);
  await refusedMutation(emulator, `secretValueUpdate(input: { id: "${id}", value: "" }) { id }`);
  expect(emulator.secrets.matches(id, VALUE)).toBe(true);
});

test("[secret.update] [secret.unknown-id] only a new value updates its time, and REST v2 requires a value or a description", async () => {
  const { id, createdAt } = emulator.secrets.create({ name: "hf", value: VALUE, description: "d" });
  clock.advance(1000);
  const path = `/account/secrets/${id}`;
  expect((await call("PATCH", path, {})).status).toBe(422);
  expect((await call("PATCH", path, { name: "other" })).status).toBe(422);
  expect((await call("PATCH", path, { description: "" })).body).toMatchObject({
    description: "",
    valueLastUpdatedAt: createdAt,
  });
  const { body } = await call("PATCH", path, { value: "new" });
  expect(body.valueLastUpdatedAt > createdAt).toBe(true);
  const described = await mutate(
    emulator,
    `secretDescriptionUpdate(input: { id: "${id}", description: "e" }) { description lastUpdatedAt }`,
  );
  expect(described.body.data.secretDescriptionUpdate).toEqual({
    description: "e",
    lastUpdatedAt: body.valueLastUpdatedAt,
  });
  expect((await call("PATCH", "/account/secrets/none", { value: "v" })).status).toBe(404);
  expect(await refusedMutation(emulator, 'secretDelete(id: "none")')).toMatch(/not found/);
});

/** The variables that the jobs of an endpoint see. */
const seed = (env: Record<string, string>) => ({
  templates: [
    {
      id: "t1",
      name: "t",
      imageName: "app:1",
      isServerless: true,
      env: Object.entries(env).map(([key, value]) => ({ key, value })),
    },
  ],
  endpoints: [{ id: "e1", name: "e", templateId: "t1", gpuIds: "ADA_24", workersMin: 1, workersMax: 1 }],
  secrets: [{ id: "s1", name: "hf", value: VALUE }],
});

/** Runs a job, and returns what its handler returns: the variables of its worker. */
async function variables(): Promise<Record<string, string>> {
  const headers = { authorization: `Bearer ${emulator.apiKey}`, "content-type": "application/json" };
  const running = fetch(`${emulator.url}/v2/e1/runsync`, { method: "POST", headers, body: '{"input":{"n":1}}' });
  let output: Record<string, string> | undefined;
  running.then(async (response) => {
    output = ((await response.json()) as { output?: Record<string, string> }).output ?? {};
  });
  for (let turns = 0; output === undefined && turns < 2000; turns++) {
    clock.advance(50);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return output ?? {};
}

const handlers = { e: (_job: unknown, context: { env: Record<string, string> }) => ({ ...context.env }) };

test("[secret.fill] [secret.part] [secret.unknown] secret values are filled in when a worker starts, and reads return only references", async () => {
  await emulator.stop();
  const env = { TOKEN: "{{ RUNPOD_SECRET_hf }}", AUTH: "Bearer {{RUNPOD_SECRET_hf}}", GONE: "{{ RUNPOD_SECRET_no }}" };
  await start({ seed: seed(env), handlers });
  const filled = { TOKEN: VALUE, AUTH: `Bearer ${VALUE}`, GONE: env.GONE };
  expect(await variables()).toMatchObject(filled);
  expect(emulator.secrets.get("s1")?.lastRetrievedAt).not.toBeNull();
  emulator.secrets.change("s1", { value: "rotated" });
  expect(await variables()).toMatchObject(filled);
  await call("PATCH", "/serverless/e1", { workers: { min: 0, max: 0 } });
  clock.advance(60_000);
  await call("PATCH", "/serverless/e1", { workers: { min: 1, max: 1 } });
  expect(await variables()).toMatchObject({ TOKEN: "rotated", AUTH: "Bearer rotated" });
  const shown = [emulator.templates.list(), emulator.endpoints.list(), emulator.journal.requests()];
  expect(JSON.stringify(shown)).not.toContain("canary");
  const [pod] = emulator.endpoints.get("e1")?.pods ?? [];
  const read = await fetch(`${emulator.url}/v1/pods/${pod?.id}?includeWorkers=true`, {
    headers: { authorization: `Bearer ${emulator.apiKey}` },
  });
  expect(await read.json()).toMatchObject({ env: { TOKEN: env.TOKEN } });
});

test("[secret.unknown-observed] in the observed profile, a worker waits for a missing secret", async () => {
  await emulator.stop();
  await start({ profile: "observed", seed: seed({ TOKEN: "{{ RUNPOD_SECRET_late }}" }), handlers });
  clock.advance(120_000);
  expect(emulator.endpoints.get("e1")?.pods).toMatchObject([{ lastStatusChange: "Waiting for secret late" }]);
  emulator.secrets.create({ name: "late", value: "now" });
  expect(await variables()).toMatchObject({ TOKEN: "now" });
});

test("[secret.delete] a secret can be deleted while variables reference it", async () => {
  await emulator.stop();
  await start({ seed: seed({ TOKEN: "{{ RUNPOD_SECRET_hf }}" }), handlers });
  expect((await call("DELETE", "/account/secrets/s1")).status).toBe(204);
  expect((await call("DELETE", "/account/secrets/s1")).status).toBe(404);
  expect(emulator.templates.get("t1")?.env).toEqual([{ key: "TOKEN", value: "{{ RUNPOD_SECRET_hf }}" }]);
});

test("the page's copy of a request that creates a secret omits the value", async () => {
  await create("hf");
  await call("POST", "/account/secrets", { name: "other", value: VALUE });
  const answers = await Promise.all(
    [1, 2].map(async (number) => {
      const response = await fetch(`${emulator.url}/emulator/requests/${number}`, {
        headers: { authorization: `Bearer ${emulator.apiKey}` },
      });
      return response.text();
    }),
  );
  expect(answers.join()).not.toContain("canary-value");
});
