import { readFileSync } from "node:fs";
import path from "node:path";
import { type Emulator, loadHandlers, startEmulator } from "../../emulator";
import { createStack } from "./harness";

const EXAMPLES = path.resolve(__dirname, "../../examples");
const COMMAND = path.resolve(__dirname, "../../dist/cli/main.js");

/** The types of the examples are checked with those of the repository, once. */
const createExample = (name: string, { env }: Emulator) =>
  createStack({ folder: `examples/${name}`, env: { ...env, PULUMI_NODEJS_TRANSPILE_ONLY: "true" } });

// Concurrent, because most of an example's time is spent waiting for processes to start.

test.concurrent("quickstart", async () => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 100 });
  const stack = await createExample("quickstart", emulator);
  await stack.up();
  const [chat, ...others] = emulator.endpoints.list();
  expect(others).toEqual([]);
  expect(await stack.outputs()).toEqual({ queueUrl: `${emulator.url}/v2/${chat?.id}` });
  await stack.destroy();
  expect(emulator.endpoints.list()).toEqual([]);
});

test.concurrent("from-image: creates everything from a registry to an endpoint that responds", async () => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 100, strictReferences: true });
  const stack = await createExample("from-image", emulator);
  await stack.setConfig({ ghcr: "password-canary-1", hf: "token-canary-1" }, { secret: true });
  await stack.setConfig({ protect: "false" });
  await stack.up();
  expect(await stack.outputs()).toEqual({
    queueUrl: `${emulator.url}/v2/${emulator.endpoints.list()[0]?.id}`,
    templateRevision: 1,
  });
  await stack.destroy();
  const { endpoints, templates, volumes, registryAuths } = emulator;
  expect([endpoints, templates, volumes, registryAuths].flatMap((each) => each.list())).toEqual([]);
});

test.concurrent("fleet: creates one endpoint for each entry of the data", async () => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 100 });
  const stack = await createExample("fleet", emulator);
  await stack.up();
  const fleet = JSON.parse(readFileSync(path.join(EXAMPLES, "fleet/fleet.json"), "utf8"));
  const { queueUrls } = await stack.outputs();
  expect(Object.keys(queueUrls as object).sort()).toEqual(Object.keys(fleet).sort());
  expect(emulator.endpoints.list()).toHaveLength(Object.keys(fleet).length);
  const byTemplate = Object.fromEntries(emulator.endpoints.list().map((each) => [each.templateId, each]));
  expect(byTemplate["images-template"]).toMatchObject({
    gpuIds: "ADA_24,AMPERE_24,-NVIDIA L4",
    locations: "US",
    workersMax: 2,
  });
  expect(byTemplate["embeddings-template"]).toMatchObject({ locations: "CZ,NO,RO", idleTimeout: 20, workersMax: 5 });
  await stack.preview("--refresh", "--expect-no-changes");

  await stack.writeFile("fleet.json", JSON.stringify({ chat: fleet.chat }));
  await stack.up();
  expect(emulator.endpoints.list()).toMatchObject([{ templateId: "chat-template" }]);
});

test.concurrent("adopt: the program that serverless-gpu adopt writes adopts the account", async () => {
  const seed = JSON.parse(readFileSync(path.join(EXAMPLES, "adopt/account.json"), "utf8"));
  await using emulator = await startEmulator({ profile: "contract", seed, drainMs: 100 });
  const stack = await createExample("adopt", emulator);
  const adopted = await stack.exec(process.execPath, [COMMAND, "adopt"]);
  expect(adopted.stdout).toBe(readFileSync(path.join(EXAMPLES, "adopt/index.ts"), "utf8"));

  const { output } = await stack.up();
  expect(output).toContain("adopted endpoint chat1endpoint; nothing changed");
  expect(emulator.endpoints.list()).toMatchObject(seed.endpoints);
  expect(emulator.journal.requests({ operation: "saveEndpoint" })).toEqual([]);
  // The program still sets adoptId, so the endpoints are released, not deleted.
  await stack.destroy();
  expect(emulator.endpoints.list()).toMatchObject(seed.endpoints);
});

test.concurrent("pods: reads a pod, the endpoint that it works for, and the account", async () => {
  const seed = JSON.parse(readFileSync(path.join(EXAMPLES, "pods/seed.json"), "utf8"));
  await using emulator = await startEmulator({
    profile: "contract",
    seed,
    serverlessDiscount: { discountFactor: 0.8, type: "volume", expirationDate: "2027-01-01" },
  });
  const stack = await createExample("pods", emulator);
  await stack.setConfig({ podId: "pod-1" });
  const { output } = await stack.up();
  expect(output).not.toContain("pod-token-77");
  expect(await stack.outputs()).toEqual({
    where: "EU-RO-1",
    costPerHr: 0.5,
    podEnv: { TOKEN: "pod-token-77" },
    queueUrl: `${emulator.url}/v2/worker-endpoint`,
    jobsInQueue: 0,
    workersMax: 2,
    workersOfAll: 5,
    discountFactor: 0.8,
  });
  await stack.destroy();
  expect(emulator.endpoints.list()).toHaveLength(2);
});

test.concurrent("blue-green: a template with a wrong output never gets traffic", async () => {
  const handlers = loadHandlers(path.join(EXAMPLES, "blue-green/handlers"));
  await using emulator = await startEmulator({ profile: "contract", handlers, coldStartMs: 50, drainMs: 100 });
  const stack = await createExample("blue-green", emulator);
  const queueOf = (color: string) =>
    `${emulator.url}/v2/${emulator.endpoints.list().find(({ name }) => name.startsWith(color))?.id}`;
  const jobs = () => emulator.journal.requests({ operation: "run" }).map(({ endpointId }) => endpointId);
  await stack.up();
  expect(await stack.outputs()).toEqual({ queueUrl: queueOf("blue") });
  expect(jobs()).toHaveLength(2);

  await stack.setConfig({ live: "green", greenTemplate: "model-broken" });
  const failed = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(failed.exitCode).not.toBe(0);
  expect(failed.output).toContain("its output.text is not as expected");
  expect(await stack.outputs()).toEqual({ queueUrl: queueOf("blue") });

  await stack.setConfig({ greenTemplate: "model-v2" });
  await stack.up();
  expect(await stack.outputs()).toEqual({ queueUrl: queueOf("green") });
  expect(jobs()).toHaveLength(4);
  await stack.preview("--refresh", "--expect-no-changes");
});
