import { type Emulator, startEmulator } from "../../../emulator";
import { createEndpoint, graphql, invalidMutation, mutate, REQUIRED, send } from "../../support/plainClient";

// The differences between the emulator and captures of RunPod (2026).

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ profile: "observed", coldStartMs: 0, drainMs: 0 });
});
afterEach(() => emulator.stop());

const json = (value: unknown) => ({ headers: { "content-type": "application/json" }, body: JSON.stringify(value) });

function v2(method: string, path: string, body?: unknown) {
  const { headers = {}, ...rest } = body === undefined ? {} : json(body);
  return send(`${emulator.url}/v2${path}`, {
    method,
    headers: { ...headers, authorization: `Bearer ${emulator.apiKey}` },
    ...rest,
  });
}

const NEW = {
  name: "a",
  type: "QUEUE",
  scaling: { type: "QUEUE_DELAY", queueDelay: 4 },
  image: "me/app:1",
  gpu: { pools: ["ADA_24"] },
};

async function jobOf(id: string, input: object) {
  const key = { authorization: `Bearer ${emulator.apiKey}` };
  const { headers, body } = json({ input });
  const made = await send(`${emulator.url}/v2/${id}/run`, { method: "POST", headers: { ...headers, ...key }, body });
  for (;;) {
    const { body: job } = await send(`${emulator.url}/v2/${id}/status/${made.body.id}`, { headers: key });
    if (!["IN_QUEUE", "IN_PROGRESS"].includes(job.status)) return job;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("[v2.start-command] entrypoint and cmd are accepted, always shown, and cleared by []", async () => {
  const { body: plain } = await v2("POST", "/serverless", NEW);
  expect(plain).toMatchObject({ entrypoint: [], cmd: [] });
  const { status, body } = await v2("PATCH", `/serverless/${plain.id}`, {
    entrypoint: ["python"],
    cmd: ["-u", "a.py"],
  });
  expect([status, body.entrypoint, body.cmd]).toEqual([200, ["python"], ["-u", "a.py"]]);
  expect((await v2("PATCH", `/serverless/${plain.id}`, { cmd: [] })).body).toMatchObject({
    cmd: [],
    entrypoint: ["python"],
  });
  const template = await v2("POST", "/templates", { name: "t", image: "me/app:1", serverless: true, cmd: ["serve"] });
  expect(template.body).toMatchObject({ cmd: ["serve"], entrypoint: [] });
  const { body: copy } = await v2("POST", "/serverless", { ...NEW, image: undefined, templateId: template.body.id });
  expect(copy.cmd).toEqual(["serve"]);
});

test("[v2.exclusions] [save.exclusions] an exclusion outside the pools, or of every type, returns 400 over REST v2, and GraphQL ignores it", async () => {
  for (const excludedTypes of [["NVIDIA A40"], ["NVIDIA GeForce RTX 409"], ["NVIDIA GeForce RTX 4090"]]) {
    const { status } = await v2("POST", "/serverless", { ...NEW, gpu: { pools: ["ADA_24"], excludedTypes } });
    expect(status).toBe(400);
  }
  const gpu = { pools: ["AMPERE_48"], excludedTypes: ["NVIDIA A40"] };
  expect((await v2("POST", "/serverless", { ...NEW, gpu })).status).toBe(201);
  const { body } = await mutate(
    emulator,
    'saveEndpoint(input: { name: "b", gpuIds: "ADA_24,-NVIDIA A40", templateId: "t" }) { gpuIds }',
  );
  expect(body.data.saveEndpoint.gpuIds).toBe("ADA_24,-NVIDIA A40");
});

test("[graphql.introspection] introspection is off in the observed profile only", async () => {
  const query = "{ __schema { types { name } } }";
  const { status, body } = await graphql(emulator, query);
  expect([status, body.errors[0].extensions.code]).toEqual([400, "GRAPHQL_VALIDATION_FAILED"]);
  expect((await graphql(emulator, "{ myself { __typename } }")).status).toBe(200);
  await using contract = await startEmulator({ profile: "contract" });
  expect((await graphql(contract, query)).status).toBe(200);
});

test("[save.unknown-tier] [save.scaler-text] [save.quota] the texts of errors are those of captures", async () => {
  const save = async (more: string) => {
    const { body } = await mutate(emulator, `saveEndpoint(input: { name: "a", templateId: "t", ${more} }) { id }`);
    return body.errors[0].message;
  };
  expect(await save('gpuIds: ""')).toBe("gpuId(s) is required for a gpu endpoint");
  expect(await save('gpuIds: "ADA_42"')).toBe("Invalid GPU Pool ID: ADA_42");
  expect(await save('gpuIds: "ADA_24", scalerValue: 0')).toBe("Scaler value cannot be less than 1.");
  await using limited = await startEmulator({ profile: "observed", workerQuota: 5 });
  await createEndpoint(limited, "workersMax: 3");
  const { body } = await mutate(limited, `saveEndpoint(input: { ${REQUIRED}, workersMax: 3 }) { id }`);
  expect(body.errors[0].message).toMatch(
    /^Max workers across all endpoints must not exceed your workers quota \(5\).*lower the max worker count for this endpoint to at most 2$/,
  );
});

test("[template.serverless-kept] saveTemplate without isServerless keeps it, as Flash sends it on each deployment", async () => {
  const fields = 'name: "flash", imageName: "me/app:1", dockerArgs: "", containerDiskInGb: 20, volumeInGb: 0, env: []';
  const { body } = await mutate(emulator, `saveTemplate(input: { ${fields}, isServerless: true }) { id }`);
  const { id } = body.data.saveTemplate;
  const again = await mutate(emulator, `saveTemplate(input: { id: "${id}", ${fields} }) { isServerless }`);
  expect(again.body.data.saveTemplate).toEqual({ isServerless: true });
  expect(await invalidMutation(emulator, `saveTemplate(input: { id: "${id}" }) { id }`)).toContain("was not provided");
});

test("[save.standby] a save that leaves out workersStandby keeps a worker although workersMin is 0", async () => {
  const id = await createEndpoint(emulator, "workersMin: 0, workersMax: 2");
  while (emulator.endpoints.get(id)?.pods.length !== 1) await new Promise((resolve) => setTimeout(resolve, 20));
}, 10_000);

test("[queue.handler-error] [queue.refresh-worker] what a handler returns is read as RunPod's Python worker reads it", async () => {
  await emulator.stop();
  const handlers = { a: ({ input }: { input: object }) => input };
  emulator = await startEmulator({ profile: "observed", coldStartMs: 0, drainMs: 0, handlers });
  const { id } = emulator.endpoints.create({ name: "a", gpuIds: "ADA_24", templateId: "t", workersMax: 1 });
  const failed = await jobOf(id, { error: "out of memory", refresh_worker: true });
  expect(failed).toMatchObject({ status: "FAILED", error: "out of memory" });
  const refreshed = await jobOf(id, { answer: 4, refresh_worker: true });
  expect(refreshed).toMatchObject({ status: "COMPLETED", output: { answer: 4 } });
  const next = await jobOf(id, { answer: 5 });
  expect(next).toMatchObject({ status: "COMPLETED", output: { answer: 5 } });
  expect(new Set([failed, refreshed, next].map(({ workerId }) => workerId)).size).toBe(3);
});

test("[queue.empty-input] [queue.retries] no handler gets an empty input, and its job fails after a retry", async () => {
  await emulator.stop();
  const inputs: unknown[] = [];
  const handlers = { a: ({ input }: { input: object }) => void inputs.push(input) };
  emulator = await startEmulator({ profile: "observed", coldStartMs: 0, drainMs: 0, handlers });
  const { id } = emulator.endpoints.create({ name: "a", gpuIds: "ADA_24", templateId: "t", workersMax: 1 });
  const job = await jobOf(id, {});
  expect(job).toMatchObject({ status: "FAILED", error: "job timed out after 1 retries", retries: 1 });
  expect(inputs).toEqual([]);
}, 20_000);

test.each([
  ["410", 410],
  ["404", 404],
  ["redirect", 301],
] as const)("[graphql.ended] with the option %s, GraphQL has ended, and REST v2 stays", async (graphqlEnded, status) => {
  await emulator.stop();
  emulator = await startEmulator({ profile: "observed", graphqlEnded });
  const response = await fetch(`${emulator.url}/graphql`, { method: "POST", body: "{}", redirect: "manual" });
  expect(response.status).toBe(status);
  expect((await v2("GET", "/serverless")).status).toBe(200);
});
