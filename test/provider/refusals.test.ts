import { type Emulator, startEmulator } from "../../emulator";
import { initFailure, type Properties, startDynamicProvider } from "../support/dynamicProvider";

const INPUTS = { name: "llama", gpuIds: "AMPERE_24", templateId: "template" };

let emulator: Emulator;
let provider: Awaited<ReturnType<typeof startDynamicProvider>>;

beforeEach(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0, coldStartMs: 0 });
  provider = await startDynamicProvider(emulator.env);
});

afterEach(() => Promise.all([provider.stop(), emulator.stop()]));

async function made(inputs: Properties = {}) {
  const { inputs: checked } = await provider.check({}, { ...INPUTS, ...inputs });
  return { checked, ...(await provider.create(checked)) };
}

const saves = () => emulator.journal.requests({ operation: "saveEndpoint" });

test("renaming an endpoint to another endpoint's name is refused before the save, even in an adoption", async () => {
  const other = emulator.endpoints.create({ name: "taken", gpuIds: "AMPERE_16", templateId: "template" });
  const { id, outputs, checked } = await made();
  emulator.journal.clear();
  const rename = provider.update(id, outputs, { ...checked, name: "taken" });
  await expect(rename).rejects.toThrow(`endpoint ${id} cannot be renamed to "taken": ${other.id} has that name`);
  const byHand = emulator.endpoints.create({ name: "by hand", gpuIds: "AMPERE_16", templateId: "template" });
  const adoption = provider.create({ ...checked, adoptId: byHand.id, name: "taken" });
  await expect(adoption).rejects.toThrow(`endpoint ${byHand.id} cannot be renamed to "taken"`);
  expect(saves()).toEqual([]);

  await provider.update(id, outputs, { ...checked, name: "free" });
  expect(emulator.endpoints.get(id)?.name).toBe("free");
});

test("one of two endpoints created at the same time with the same name is refused", async () => {
  const one = await made();
  const two = await made({ name: "alpaca" });
  const results = await Promise.allSettled([
    provider.update(one.id, one.outputs, { ...one.checked, name: "wanted" }),
    provider.update(two.id, two.outputs, { ...two.checked, name: "wanted" }),
    made({ name: "wanted" }),
  ]);
  expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected", "rejected"]);
  expect(emulator.endpoints.list().filter(({ name }) => name === "wanted")).toHaveLength(1);
});

/** With it, lists are not empty: those would prove nothing. */
const ANOTHER = { id: "another", name: "another", gpuIds: "AMPERE_24", templateId: "template", workersMax: 0 };

test("updating an endpoint that no longer exists fails with advice on how to continue", async () => {
  const { id, outputs, checked } = await made();
  emulator.endpoints.delete(id);
  const updateBy = (run: typeof provider) => run.update(id, outputs, { ...checked, workersMax: 2 });
  await expect(updateBy(provider)).rejects.toThrow(/The list was empty.* pulumi state delete 'URN' drops it/);
  emulator.endpoints.create(ANOTHER);
  // Another run, because the resources of one run share a list.
  await using next = await startDynamicProvider(emulator.env);
  await expect(updateBy(next)).rejects.toThrow(new RegExp(`endpoint ${id} does not exist .* Run pulumi up --refresh`));
});

test("updating an endpoint that may be in another account is refused for that reason", async () => {
  const { id, outputs, checked } = await made();
  emulator.endpoints.delete(id);
  const elsewhere = String(outputs.__account).replace(/ [0-9a-f]{12}/, " 000000000000");
  const update = provider.update(id, { ...outputs, __account: elsewhere }, { ...checked, workersMax: 2 });
  await expect(update).rejects.toThrow(/SERVERLESS_GPU_ALLOW_ACCOUNT_CHANGE/);
});

test("a deletion that the service refuses logs the refusal during the retries and at the end", async () => {
  const { id, outputs } = await made({ workersMax: 0, drainTimeout: 2 });
  const refusal = { message: "a lock is held by billing", code: "RUNPOD" };
  emulator.faults.add({ match: { operation: "deleteEndpoint" }, effect: { graphqlError: refusal } });
  await expect(provider.delete(id, outputs)).rejects.toThrow(/not deleted within 2 s: .*a lock is held by billing/);
  expect(provider.output()).toMatch(
    /llama: the service has not deleted it yet, .*a lock is held by billing.* \(\d s\)/,
  );
});

test("waiting continues while the queue does not know the endpoint yet", async () => {
  emulator.faults.add({ match: { operation: "health" }, effect: { status: 404 }, times: 2 });
  const { outputs } = await made({ workersMin: 1, awaitReady: true, awaitReadyTimeout: 30 });
  expect(outputs).toMatchObject({ awaitReady: true, workersMin: 1 });
  expect(emulator.journal.requests({ operation: "health" })).toHaveLength(3);
});

test("waiting for workers ends when the endpoint is deleted", async () => {
  emulator.faults.add({ match: { operation: "health" }, effect: { status: 404 } });
  const creation = made({ workersMin: 1, awaitReady: true, awaitReadyTimeout: 300 });
  while (emulator.endpoints.list().length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  emulator.endpoints.delete(emulator.endpoints.list()[0]?.id ?? "");
  emulator.endpoints.create(ANOTHER);
  const failure = initFailure(await creation.catch((error) => error));
  expect(failure?.message).toMatch(/does not exist .* Run pulumi up --refresh/);
  expect(failure?.properties).toMatchObject({ awaitReady: true });
  expect(failure?.properties).not.toHaveProperty("__passed");
}, 60_000);

test("no secret of the program appears in a message from a check, in a refusal by the service, or in a log", async () => {
  const secrets = { __secretInputs: "gpuIds,name,templateId", name: "secret-name-5", templateId: "secret-template-5" };
  const { failures } = await provider.check({}, { ...INPUTS, ...secrets, gpuIds: "ADA_2444" });
  expect(failures).toMatchObject([{ property: "", reason: expect.stringContaining("gpuIds: ") }]);
  expect(JSON.stringify(failures)).not.toContain("ADA_2444");

  const refusal = { message: "there is no template secret-template-5", code: "RUNPOD" };
  emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: { graphqlError: refusal }, times: 1 });
  await expect(made(secrets)).rejects.toThrow("there is no template [redacted]");

  const { id, outputs } = await made({ ...secrets, workersMax: 0, drainTimeout: 1 });
  // Another process, which knows only the state.
  await using later = await startDynamicProvider(emulator.env);
  emulator.faults.add({ match: { operation: "deleteEndpoint" }, effect: { graphqlError: refusal } });
  await expect(later.delete(id, outputs)).rejects.not.toThrow("secret-template-5");
  expect(later.output()).toContain("the service has not deleted it yet");
  expect(provider.output() + later.output()).not.toMatch(/secret-(name|template)-5/);
});
