import { type Emulator, startEmulator } from "../../emulator";
import { createStack } from "./harness";

const PASSWORD = "password-canary-6c1d";

const program = (provider: string) => `
const { ContainerRegistryAuth, NetworkVolume, ServerlessEndpoint, ServerlessGpuProvider, ServerlessTemplate } = require("pulumi-serverless-gpu");
const account = (name, url) => new ServerlessGpuProvider(name, { apiKeyEnv: name.toUpperCase() + "_KEY", graphqlUrl: url, restUrl: url, queueUrl: url });
const first = account("first", process.env.FIRST_URL);
const second = account("second", process.env.SECOND_URL);
const options = { provider: ${provider} };
const registry = new ContainerRegistryAuth("registry", { name: "registry", username: "me", password: "${PASSWORD}" }, options);
const template = new ServerlessTemplate("llama", { name: "llama", imageName: "app:1", containerRegistryAuthId: registry.id }, options);
const volume = new NetworkVolume("models", { name: "models", size: 50, dataCenterId: "EU-RO-1" }, options);
new ServerlessEndpoint("llama", {
  name: "llama", templateId: template.id, templateRevision: template.revision, networkVolumeId: volume.id, gpuIds: ["ADA_24"],
}, options);
`;

/**
 * Each lost response costs the wait for the list. The fault matrix loses those of the other kinds.
 */
const LOST = ["saveTemplate", "createNetworkVolume"];

const idsOf = ({ registryAuths, templates, volumes, endpoints }: Emulator) =>
  [registryAuths, templates, volumes, endpoints].map((kind) => kind.list().map(({ id }) => id));

test("lost responses and 429s create no duplicates, a forced replacement does not reuse the old record, and a move warns about data loss", async () => {
  const options = { strictReferences: true, drainMs: 50, templateReleaseMs: 500 };
  await using first = await startEmulator({ profile: "contract", ...options, apiKey: "first-account-key" });
  await using second = await startEmulator({ profile: "contract", ...options, apiKey: "second-account-key" });
  const env = {
    FIRST_KEY: "first-account-key",
    SECOND_KEY: "second-account-key",
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
  const moved = await stack.up();
  expect(idsOf(first)).toEqual([[], [], [], []]);
  expect(idsOf(second).map(({ length }) => length)).toEqual([1, 1, 1, 1]);
  expect(refused.output + shown.output + moved.output).not.toContain(PASSWORD);
  await stack.destroy();
  expect(idsOf(second)).toEqual([[], [], [], []]);
});
