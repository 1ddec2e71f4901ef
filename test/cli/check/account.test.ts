import { type Emulator, startEmulator } from "../../../emulator";
import { accountRecord } from "../../../provider/connection/account";
import { createClient, settingsFromEnvironment } from "../../../sdk";
import { until } from "../../support/realWorkers";
import { previewOf, reviewed, step } from "./previews";

const ONE = { gpuIds: "ADA_24", templateId: "t", workersMax: 2 };

const seed = (id: string, workersMax: number) => ({ id, name: id, gpuIds: "ADA_24", templateId: "t", workersMax });

/** Starts a service with `one` (4 workers at most), `two` (1) and `other` (3). */
const start = (limits: { readonly workerQuota?: number; readonly spendLimit?: number }) =>
  startEmulator({
    profile: "observed",
    ...limits,
    seed: { endpoints: [seed("one", 4), seed("two", 1), seed("other", 3)] },
  });

const change = (name: string, from: number, to: unknown, options: object = {}) =>
  step("update", name, {
    old: { ...ONE, id: name, workersMax: from },
    inputs: { ...ONE, workersMax: to },
    ...options,
  });

describe("the quota", () => {
  test("the quota is reported as unchecked if the workersMax of an endpoint is unknown", async () => {
    await using emulator = await start({ workerQuota: 9 });
    const steps = [change("one", 4, "[secret]"), change("two", 1, "[secret]")];
    const { code, stdout } = await reviewed(previewOf(steps), { emulator });
    expect(code).toBe(0);
    expect(stdout).toContain(
      "NOT LOOKED UP  the worker quota: the change of workersMax of one, two is not known before up",
    );
    expect(stdout).toContain("OK: the checks that were made found no problem");
  });

  test("the quota is impossible to meet if the known endpoints alone exceed it", async () => {
    await using emulator = await start({ workerQuota: 9 });
    const steps = [change("one", 4, "[secret]"), change("two", 1, 8)];
    const { code, stdout } = await reviewed(previewOf(steps), { emulator });
    expect(code).toBe(4);
    expect(stdout).toContain("8 by this program at least");
  });
});

async function spendOf({ env }: Emulator): Promise<number> {
  const client = createClient(settingsFromEnvironment(env));
  try {
    return (await client.account.limits()).currentSpend ?? 0;
  } finally {
    await client.close();
  }
}

describe("the spend limit", () => {
  // A worker costs $1.12 an hour, so two are above the limit.
  const staging = step("create", "far", { inputs: { ...ONE, workersMax: 9 }, provider: "staging" });
  const adopted = (inputs: object) =>
    step("create", "one", { inputs: { gpuIds: "ADA_24", templateId: "t", adoptId: "one", ...inputs } });

  test.each<[string, object[], number]>([
    ["a change that costs more", [change("one", 4, 5)], 4],
    ["a change that costs less", [change("one", 4, 3)], 0],
    ["a change of something else", [change("one", 4, 4)], 0],
    ["an endpoint of another account", [change("one", 4, 4), staging], 0],
    ["an adoption that keeps the workers", [adopted({})], 0],
    ["an adoption that adds workers", [adopted({ workersMax: 5 })], 4],
  ])("the spend limit is compared only with the added cost, with --strict: %s", async (_, steps, code) => {
    await using emulator = await start({ workerQuota: 50, spendLimit: 2 });
    expect((await reviewed(previewOf(steps), { emulator, strict: true })).code).toBe(code);
  });

  test("the spend limit is compared with the account's current spending plus the cost of the change", async () => {
    const busy = { ...seed("busy", 3), workersMin: 3 };
    await using emulator = await startEmulator({
      profile: "observed",
      workerQuota: 50,
      spendLimit: 5,
      seed: { endpoints: [busy, seed("one", 1)] },
    });
    // Three workers cost $3.36 an hour.
    await until(async () => (await spendOf(emulator)) > 3.3);
    const added = await reviewed(previewOf([change("one", 1, 3)]), { emulator, strict: true });
    expect(added.stdout).toContain(
      "the change adds $2.24 an hour to the maximum cost. Together with the account's current spend, that is above the account's spend " +
        "limit of $5.00",
    );
    expect(added.stdout).toContain("The account spends $3.36 an hour now.");
    expect(added.code).toBe(4);
    expect((await reviewed(previewOf([change("one", 1, 2)]), { emulator, strict: true })).code).toBe(0);
  });

  test("the spend limit is reported as unchecked if the cost of an endpoint is unknown", async () => {
    await using emulator = await start({ workerQuota: 50, spendLimit: 50 });
    const { stdout } = await reviewed(previewOf([change("one", 4, "[secret]")]), { emulator });
    expect(stdout).toContain("NOT LOOKED UP  the spend limit: the cost of one is not known");
  });
});

describe("a stack in another account", () => {
  const elsewhere = (name: string, id: string, __account: string, provider?: string) =>
    step("update", name, {
      old: { ...ONE, id, __account },
      inputs: { ...ONE, workersMax: 20 },
      ...(provider ? { provider } : {}),
    });

  test("a stack in another account leaves the quota and the spend limit unchecked, and the report says so without showing the hash of its key", async () => {
    await using emulator = await start({ workerQuota: 9, spendLimit: 2 });
    const steps = [elsewhere("x", "far", "https://other.example 0123456789ab"), change("y", 2, 20)];
    const { code, stdout } = await reviewed(previewOf(steps), { emulator, strict: true });
    expect(code).toBe(0);
    expect(stdout).toContain(
      "NOT LOOKED UP  worker quota, spend limit and network volumes: the key in the environment is for an account that does not list x, y. Set",
    );
    expect(stdout).not.toContain("0123456789ab");
  });

  test.each<[string, (url: string, apiKey: string) => object]>([
    ["the key was rotated", (url) => elsewhere("one", "one", `${url} 0123456789ab`)],
    [
      "the endpoint is gone from the same account",
      (service, apiKey) => elsewhere("x", "far", accountRecord({ service, apiKey, provider: "" }, "far")),
    ],
  ])("a stack in another account is not assumed if %s", async (_, make) => {
    await using emulator = await start({ workerQuota: 9 });
    const { SERVERLESS_GPU_GRAPHQL_URL: url, SERVERLESS_GPU_API_KEY: apiKey } = emulator.env;
    const steps = [make(String(url), String(apiKey))];
    expect((await reviewed(previewOf(steps), { emulator })).stdout).toContain("above its quota of 9");
  });
});

test("the report claims that nothing was found only if every cost is known", async () => {
  await using emulator = await start({});
  const free = { ...ONE, gpuIds: "NEW_POOL", id: "one", workersMin: 1 };
  const same = await reviewed(previewOf([step("same", "one", { old: free, inputs: free })]), { emulator });
  expect(same.stdout).toContain("OK: the checks that were made found no problem");
});
