import * as messages from "@pulumi/pulumi/proto/provider_pb";
import { startEmulator } from "../../emulator";
import { UNKNOWN } from "../../provider/engine/properties";
import { call, toStruct } from "../support/dynamicProvider";
import { secret, startPlugin, urnOf } from "../support/plugin";

const ONE = { kind: "ServerlessEndpoint" };
const INPUTS = { gpuIds: ["AMPERE_24"], templateId: "template" };
const WARNING = 2;

type Plugin = Awaited<ReturnType<typeof startPlugin>>;

function warnings({ lines }: Plugin): string[] {
  return lines.filter(({ severity }) => severity === WARNING).map(({ message }) => message);
}

test("a warning about billed idle workers and a warning about an image without a fixed tag each appear once, for their resource", async () => {
  await using plugin = await startPlugin({});
  const { inputs } = await plugin.check(ONE, { ...INPUTS, workersMin: 2 });
  const line = "workersMin is 2: 2 workers are billed even while idle";
  expect(plugin.lines).toContainEqual({ severity: WARNING, message: line, urn: urnOf(ONE) });
  await plugin.check(ONE, { ...INPUTS, workersMin: 2, workersMax: 5 }, inputs);
  await plugin.check({ kind: "ServerlessTemplate" }, { imageName: "llama:latest" });
  await plugin.check({ ...ONE, name: "two" }, { ...INPUTS, workersMin: secret(3) });
  expect(warnings(plugin)).toEqual([
    line,
    expect.stringContaining("imageName has no fixed tag"),
    "workersMin is above 0: idle workers are also billed",
  ]);
});

test("a preview warns once that up will fail without a key", async () => {
  await using plugin = await startPlugin({});
  const { inputs } = await plugin.check(ONE, INPUTS);
  await plugin.create(ONE, inputs, { preview: true });
  await plugin.create(ONE, inputs, { preview: true });
  expect(warnings(plugin)).toEqual([expect.stringMatching(/^this preview sends no requests .*there is no API key/)]);
});

test("unknown settings cause a warning, and a provider requires a key", async () => {
  await using plugin = await startPlugin({});
  const checkConfig = async (name: string, settings: Record<string, unknown>) => {
    const request = new messages.CheckRequest().setUrn(
      `urn:pulumi:dev::test::pulumi:providers:serverless-gpu::${name}`,
    );
    request.setName(name).setNews(toStruct(settings));
    const response = await call<messages.CheckResponse>(plugin.client.checkConfig.bind(plugin.client), request);
    return {
      inputs: response.getInputs()?.toJavaScript(),
      failures: response.getFailuresList().map((f) => {
        expect(f.getProperty()).toBe("");
        return f.getReason();
      }),
    };
  };
  const { inputs, failures } = await checkConfig("default_1_2_3", { apiKye: "a", version: "1.2.3" });
  expect([inputs, failures]).toEqual([{ apiKye: "a", version: "1.2.3" }, []]);
  expect(warnings(plugin)).toEqual([expect.stringContaining("Did you mean serverless-gpu:apiKey?")]);

  const needs = 'the provider "mine" needs either apiKey or apiKeyEnv';
  expect((await checkConfig("mine", {})).failures).toEqual([needs]);
  const noUrls =
    'the provider "mine" has no graphqlUrl and no queueUrl: set its service: "runpod", or its graphqlUrl and queueUrl.';
  expect((await checkConfig("mine", { apiKey: "a" })).failures).toEqual([expect.stringContaining(noUrls)]);
  expect((await checkConfig("mine", { apiKey: "a", graphqlUrl: UNKNOWN, queueUrl: UNKNOWN })).failures).toEqual([]);
  expect((await checkConfig("mine", { apiKey: "a", apiKeyEnv: "B" })).failures).toEqual([needs]);
  const own = await checkConfig("default", { apiKeyEnv: "B" });
  expect(own.failures).toEqual([
    expect.stringMatching(/^apiKeyEnv: only an explicit provider has apiKeyEnv.* another name/),
  ]);
  for (const explicit of ["default_eu", "default_github_ci", "default_https_proxy", "default_1_2"]) {
    expect((await checkConfig(explicit, {})).failures).toEqual([expect.stringContaining(`"${explicit}" needs either`)]);
  }
  for (const engines of ["_1_2_3_alpha_1", "_https_/example.com/plugins", "_1_2_3_github_/api.github.com/org"]) {
    expect((await checkConfig(`default${engines}`, {})).failures).toEqual([]);
  }
  // State keeps the key as a secret, however the program gives it.
  expect(await checkConfig("mine", { apiKey: "a", service: "runpod" })).toEqual({
    inputs: { apiKey: secret("a"), service: "runpod" },
    failures: [],
  });
});

test.each([
  "mine",
  "default_eu",
])("the explicit provider %s uses its own key and its own lists of additional accepted values", async (provider) => {
  await using emulator = await startEmulator({ profile: "contract", apiKey: "own-key-4711" });
  const config = {
    apiKey: "own-key-4711",
    graphqlUrl: emulator.url,
    queueUrl: emulator.url,
    acceptWords: '["HOPPER_142"]',
  };
  const env = { SERVERLESS_GPU_API_KEY: "wrong-key", SERVERLESS_GPU_GRAPHQL_URL: "http://127.0.0.1:9" };
  await using plugin = await startPlugin(env, { config, provider });
  const { inputs, failures } = await plugin.check(ONE, { ...INPUTS, gpuIds: ["HOPPER_142"], name: "one" });
  expect(failures).toEqual([]);
  const wrongTier = await plugin.create(ONE, inputs).catch((error: Error) => error);
  expect(wrongTier).not.toMatchObject({ message: expect.stringContaining("own-key-4711") });
  const { outputs } = await plugin.create(ONE, { ...inputs, gpuIds: ["ADA_24"], name: "two" });
  expect(outputs.__account).toMatch(new RegExp(` ${provider}$`));
});

test("a key that is not accepted is reported in full for one resource, and the others refer to it", async () => {
  await using emulator = await startEmulator();
  await using plugin = await startPlugin({ ...emulator.env, SERVERLESS_GPU_API_KEY: "another-key" });
  const create = async (name: string, kind = "ServerlessEndpoint", given: object = INPUTS) => {
    const { inputs } = await plugin.check({ kind, name }, { ...given, name });
    return plugin.create({ kind, name }, inputs).catch(({ message }: Error) => message);
  };
  const full = expect.stringMatching(
    /: the list of endpoints: the service responded with 401 .*Check that the API key/,
  );
  const short = /: the API key is not accepted: see the error of one$/;
  expect(await create("one")).toEqual(full);
  expect(await create("two")).toMatch(short);
  expect(await create("three", "ServerlessTemplate", { imageName: "me/llama:1" })).toMatch(short);
  expect(await create("four", "NetworkVolume", { size: 10, dataCenterId: "EU-RO-1" })).toMatch(short);
  expect(await create("one")).toEqual(full);
});

test("the preview of an adoption shows each change, and fails if the record does not exist", async () => {
  await using emulator = await startEmulator({
    profile: "contract",
    seed: {
      endpoints: [{ id: "abc", name: "llama", gpuIds: "ADA_24", templateId: "tpl" }],
      templates: [{ id: "tpl", name: "mine", imageName: "a:1", env: [{ key: "HF_TOKEN", value: "previous-token" }] }],
    },
  });
  await using plugin = await startPlugin(emulator.env);
  const preview = async (kind: string, news: Record<string, unknown>) => {
    const { inputs } = await plugin.check({ kind }, news);
    return plugin.create({ kind }, inputs, { preview: true });
  };
  await preview("ServerlessEndpoint", { adoptId: "abc", gpuIds: ["ADA_24", "AMPERE_24"], templateId: UNKNOWN });
  expect(plugin.lines.at(-1)).toEqual({
    severity: 1,
    message:
      'endpoint abc ("llama") is adopted; no endpoint is created. The program changes:\n' +
      '  gpuIds: "ADA_24" → "ADA_24,AMPERE_24"\n  templateId: to a value that is not known yet',
    urn: urnOf(ONE),
  });
  await preview("ServerlessTemplate", {
    adoptId: "tpl",
    imageName: secret("b:2"),
    env: { HF_TOKEN: "new-token-value" },
  });
  expect(plugin.lines.at(-1)?.message).toMatch(/imageName: \[secret\]\n {2}env: sets HF_TOKEN$/);
  await expect(preview("ServerlessEndpoint", { ...INPUTS, adoptId: "nope" })).rejects.toThrow(
    "endpoint nope does not exist in this account, so it cannot be adopted",
  );
  expect(JSON.stringify(plugin.lines)).not.toMatch(/previous-token|new-token|b:2/);
  expect(emulator.journal.operations()).not.toContain("saveEndpoint");
});
