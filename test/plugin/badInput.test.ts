import { startDynamicProvider } from "../support/dynamicProvider";
import { secret, startPlugin, urnOf } from "../support/plugin";

/** Inputs with problems. All of them are lists where the plugin has lists. */
const CASES: readonly Readonly<Record<string, unknown>>[] = [
  {},
  { gpuIds: [], templateId: "a" },
  { gpuIds: ["AMPER_24", "-"], templateId: "" },
  { gpuIds: ["ADA_24", 5], templateId: "a" },
  { gpuIds: 7, templateId: null, name: null },
  { gpuIds: ["ADA_24"], templateId: "a", locations: ["Mars", "CZ"] },
  { gpuIds: ["ADA_24"], templateId: "a", locations: { CZ: true } },
  { gpuIds: ["ADA_24"], templateId: "a", scalerValue: -1, workersMin: 4, workersMax: 2, idleTimout: 5 },
  { gpuIds: ["ADA_24"], templateId: "a", workersMin: 1.5, workersMax: "3", idleTimeout: -1, scalerType: "JOBS" },
  { gpuIds: ["ADA_24"], templateId: "a", flashBootType: "ON", networkVolumeId: 5, awaitReady: "yes" },
  { gpuIds: ["ADA_24"], templateId: "a", drainTimeout: 0, awaitReadyTimeout: 1.5, adoptId: "../etc" },
];

test("the plugin reports the same problems as the dynamic form", async () => {
  await using dynamic = await startDynamicProvider({});
  await using plugin = await startPlugin({});
  for (const news of CASES) {
    const expected = await dynamic.check({}, { automaticName: "one-1234567", ...news });
    const { failures } = await plugin.check({ kind: "ServerlessEndpoint" }, news);
    expect(failures.length).toBeGreaterThan(0);
    expect(failures).toEqual(expected.failures);
    // The engine prints the value of a property that a failure names.
    expect(failures.filter(({ property }) => property !== "")).toEqual([]);
  }
});

test("a call reports a missing key with advice, but a check does not need the key", async () => {
  await using plugin = await startPlugin({});
  const one = { kind: "ServerlessEndpoint" };
  const { inputs, failures } = await plugin.check(one, { gpuIds: ["ADA_24"], templateId: "a" });
  expect(failures).toEqual([]);
  await expect(plugin.create(one, inputs)).rejects.toThrow(
    /nothing is configured yet: there is no API key and no service/,
  );
});

test("an unknown nested key is refused and named, and a nested invalid value is shown unless it is secret", async () => {
  await using plugin = await startPlugin({});
  const smokeTest = { endpointId: "e", input: {} };
  const reasons = async (kind: string, news: Readonly<Record<string, unknown>>) =>
    (await plugin.check({ kind }, news)).failures.map(({ reason }) => reason).join("\n");
  const keys = await reasons("SmokeTest", { ...smokeTest, policy: { ttl_x: 5 }, s3Config: { bucket: "b" } });
  expect(keys).toContain(
    "policy.ttl_x: is not a property. Did you mean ttl? Allowed: executionTimeout, lowPriority, ttl",
  );
  expect(keys).toContain("s3Config.bucket: is not a property");
  expect(await reasons("SmokeTest", { ...smokeTest, policy: { ttl: "soon" } })).toMatch(
    /policy\.ttl: is "soon", and must be/,
  );
  expect(await reasons("SmokeTest", { ...smokeTest, policy: { ttl: secret("canary") } })).not.toContain("canary");
  expect(await reasons("ServerlessTemplate", { imageName: "me/x:1", command: { cmdx: [] } })).toContain(
    "there is no command.cmdx: command must be",
  );
});

test("importing a registry credential is refused with advice on how to adopt it", async () => {
  await using plugin = await startPlugin({});
  await expect(plugin.read({ kind: "ContainerRegistryAuth" }, "c1")).rejects.toThrow(
    /cannot be imported or read, because the service does not show its user and password\. Declare the resource with adoptId/,
  );
});

test("an unknown resource type is refused", async () => {
  await using plugin = await startPlugin({});
  const other = { kind: "Nothing" };
  await expect(plugin.check(other, {})).rejects.toThrow(urnOf(other).split("::")[2]);
});
