import { type Emulator, startEmulator } from "../../emulator";
import { createStack } from "./harness";

const HERE_BEFORE = "here-before";

const PASSWORD = "password-canary-6c1d";

const program = (provider: string) => `
const { ContainerRegistryAuth, NetworkVolume, ServerlessEndpoint, ServerlessGpuProvider, ServerlessTemplate, getEndpointOutput } = require("pulumi-serverless-gpu");
const account = (name, url, key) => new ServerlessGpuProvider(name, { ...key, graphqlUrl: url, restUrl: url, queueUrl: url });
const first = account("first", process.env.FIRST_URL, { apiKeyEnv: "FIRST_KEY" });
const second = account("second", process.env.SECOND_URL, { apiKey: "second-account-key" });
const options = { provider: ${provider} };
const registry = new ContainerRegistryAuth("registry", { name: "registry", username: "me", password: "${PASSWORD}" }, options);
const template = new ServerlessTemplate("llama", { name: "llama", imageName: "app:1", containerRegistryAuthId: registry.id }, options);
const volume = new NetworkVolume("models", { name: "models", size: 50, dataCenterId: "EU-RO-1" }, options);
const llama = new ServerlessEndpoint("llama", {
  name: "llama", templateId: template.id, templateRevision: template.revision, networkVolumeId: volume.id, gpuIds: ["ADA_24"],
}, options);
exports.queueUrl = llama.queueUrl;
exports.found = getEndpointOutput({ name: "${HERE_BEFORE}" }, { provider: first }).gpuIds;
`;

/**
 * Each lost response costs the wait for the list. The fault matrix loses those of the other kinds.
 */
const LOST = ["saveTemplate", "createNetworkVolume"];

const idsOf = ({ registryAuths, templates, volumes, endpoints }: Emulator) =>
  [registryAuths, templates, volumes, endpoints].map((kind) =>
    kind.list().flatMap(({ id, name }) => (name === HERE_BEFORE ? [] : [id])),
  );

test("one program manages two accounts: lost responses and 429s create no duplicates, a forced replacement does not reuse the old record, and a move warns about data loss and deletes the old records", async () => {
  const options = { strictReferences: true, drainMs: 50, templateReleaseMs: 500 };
  await using first = await startEmulator({ profile: "contract", ...options, apiKey: "first-account-key" });
  await using second = await startEmulator({ profile: "contract", ...options, apiKey: "second-account-key" });
  first.seed({
    templates: [{ id: "before", name: HERE_BEFORE, imageName: "app:0" }],
    endpoints: [{ name: HERE_BEFORE, gpuIds: "AMPERE_16", templateId: "before" }],
  });
  // The key and the URL of no provider belong to another account and must not be used.
  const env = {
    FIRST_KEY: "first-account-key",
    SERVERLESS_GPU_API_KEY: "wrong",
    SERVERLESS_GPU_GRAPHQL_URL: "http://127.0.0.1:9",
    FIRST_URL: first.url,
    SECOND_URL: second.url,
  };
  const stack = await createStack({ program: program("first"), env });
  for (const operation of LOST) {
    first.faults.add({ match: { operation }, effect: { status: 429 }, times: 1 });
    first.faults.add({ match: { operation }, effect: { reset: true, when: "after" }, times: 1 });
  }
  await stack.up();
  const before = idsOf(first);
  expect(before.map(({ length }) => length)).toEqual([1, 1, 1, 1]);
  for (const operation of LOST) expect(first.journal.requests({ operation })).toHaveLength(2);
  first.faults.clear();
  expect(await stack.outputs()).toMatchObject({ queueUrl: expect.stringContaining(first.url), found: "AMPERE_16" });
  await stack.preview("--refresh", "--expect-no-changes");

  // The replacements would be created first, with the names that the old ones have.
  const { resources = [] } = (await stack.exportState()).deployment;
  const replaced = resources.filter(({ type }) => /ServerlessTemplate|NetworkVolume|ContainerRegistryAuth/.test(type));
  const flags = replaced.flatMap(({ urn }) => ["--replace", urn]);
  const refused = await stack.run(["up", "--yes", "--skip-preview", "--continue-on-error", ...flags]);
  expect(refused.exitCode).not.toBe(0);
  for (const text of ['a network volume named "models" already exists', 'a registry credential named "registry"']) {
    expect(refused.output).toContain(text);
  }
  expect(idsOf(first)).toEqual(before);

  await stack.writeProgram(program("second"));
  const shown = await stack.preview();
  expect(shown.output).toContain("ALL ITS DATA IS LOST");
  expect(shown.output).toMatch(/llama.*replace/);
  const moved = await stack.up();
  expect(idsOf(first)).toEqual([[], [], [], []]);
  expect(idsOf(second).map(({ length }) => length)).toEqual([1, 1, 1, 1]);
  expect(first.endpoints.list().map(({ name }) => name)).toEqual([HERE_BEFORE]);
  expect(JSON.stringify(await stack.exportState())).not.toMatch(/(first|second)-account-key/);
  for (const [, text] of await stack.files()) expect(text.includes("first-account-key")).toBe(false);
  expect(refused.output + shown.output + moved.output).not.toContain(PASSWORD);
  await stack.destroy();
  expect(idsOf(second)).toEqual([[], [], [], []]);
});
