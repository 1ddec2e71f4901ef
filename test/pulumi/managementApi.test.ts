import { type Emulator, startEmulator } from "../../emulator";
import { createStack, endpointsIn, type PulumiStack } from "./harness";

/** The settings that select the management interface of a command. */
const V2 = { SERVERLESS_GPU_API: "v2" };
const GRAPHQL = { SERVERLESS_GPU_API: "graphql" };

interface Choice {
  readonly password?: string;
  readonly env?: string;
  readonly workersMax?: number;
  readonly further?: boolean;
}

/**
 * A template, a credential, a volume, and endpoints with everything that the two interfaces
 * represent differently.
 */
function program({
  env = "one",
  workersMax = 2,
  further = false,
  password = "registry-password",
}: Choice = {}): string {
  return `
const { ContainerRegistryAuth, NetworkVolume, ServerlessEndpoint, ServerlessGpuProvider, ServerlessTemplate } =
  require("pulumi-serverless-gpu");
const auth = new ContainerRegistryAuth("ghcr", { username: "me", password: ${JSON.stringify(password)} });
const volume = new NetworkVolume("models", { size: 20, dataCenterId: "EU-RO-1" });
const template = new ServerlessTemplate("llama", {
  imageName: "me/llama:1", env: { MODE: ${JSON.stringify(env)} }, ports: ["8000/http"], readme: "About it",
  containerRegistryAuthId: auth.id,
});
const shared = { gpuIds: ["ADA_24", "AMPERE_24", "-NVIDIA L4"], templateId: template.id, templateRevision: template.revision };
new ServerlessEndpoint("byDelay", {
  ...shared, name: "by-delay", locations: ["RO", "CZ"], workersMax: ${workersMax}, idleTimeout: 30, flashBootType: "FLASHBOOT",
  networkVolumeId: volume.id,
});
new ServerlessEndpoint("byCount", {
  ...shared, name: "by-count", scalerType: "REQUEST_COUNT", scalerValue: 2, idleTimeout: 77,
});
const own = new ServerlessGpuProvider("own", {
  apiKey: process.env.OWN_KEY, api: process.env.OWN_API,
  graphqlUrl: process.env.OWN_URL, restUrl: process.env.OWN_URL, queueUrl: process.env.OWN_URL,
});
new ServerlessEndpoint("explicit", { gpuIds: "ADA_24", templateId: "other", name: "explicit" }, { provider: own });
${further ? 'new ServerlessEndpoint("further", { ...shared, name: "further", locations: "CZ" });' : ""}
`;
}

let emulator: Emulator;
let stack: PulumiStack;
let ids: Record<string, string | undefined>;

beforeAll(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0, coldStartMs: 0 });
  const own = { OWN_KEY: emulator.apiKey, OWN_URL: emulator.url, OWN_API: "graphql" };
  stack = await createStack({ program: program(), env: { ...emulator.env, ...own } });
  await stack.up();
  ids = await idsInState();
});
beforeEach(() => emulator.journal.clear());
afterAll(() => emulator.stop());

async function idsInState(): Promise<Record<string, string | undefined>> {
  const { deployment } = await stack.exportState();
  return Object.fromEntries((deployment.resources ?? []).map(({ urn, id }) => [urn.split("::").at(-1), id]));
}

/** Returns the interfaces of the requests, and the operations that change something. */
function traffic() {
  const requests = emulator.journal.requests();
  const reads = /^(myself|list|get)/;
  return {
    interfaces: [...new Set(requests.map((request) => request.interface))],
    writes: requests.map(({ operation }) => operation).filter((operation) => !reads.test(operation)),
  };
}

const endpoint = (name: string) => emulator.endpoints.list().find((each) => each.name === name);

test("after the switch to REST v2, a preview shows no changes, even with --refresh", async () => {
  await stack.succeed(["preview", "--expect-no-changes"], V2);
  // Once for each of the two providers.
  expect(emulator.journal.operations()).toEqual(["listEndpoints", "listEndpoints"]);
  await stack.succeed(["preview", "--refresh", "--expect-no-changes"], V2);
  expect(traffic().writes).toEqual([]);
  expect(traffic().interfaces).toContain("v2");
});

test("over REST v2, changes are made in place, and a changed template reaches its endpoints", async () => {
  await stack.writeProgram(program({ env: "two", workersMax: 4, further: true }));
  await stack.succeed(["up", "--yes", "--skip-preview"], V2);
  const { writes } = traffic();
  expect(
    writes.filter((operation) => !["updateEndpoint", "createEndpoint", "updateTemplate"].includes(operation)),
  ).toEqual([]);
  expect(writes.filter((operation) => operation === "createEndpoint")).toHaveLength(1);
  for (const name of ["by-delay", "by-count", "further"]) {
    expect(endpoint(name)?.container?.env).toEqual({ MODE: "two" });
  }
  expect(endpoint("by-delay")).toMatchObject({ workersMax: 4, locations: "CZ,RO" });
  const now = await idsInState();
  expect(now).toEqual({ ...ids, further: expect.any(String) });
  ids = now;
});

test("over REST v2, drift is shown and repaired", async () => {
  const found = endpoint("by-delay");
  emulator.endpoints.change(String(found?.id), { workersMax: 9, locations: "EU-CZ-1" });
  const { output } = await stack.succeed(["up", "--yes", "--skip-preview", "--refresh", "--diff"], V2);
  expect(output).toMatch(/workersMax/);
  expect(endpoint("by-delay")).toMatchObject({ workersMax: 4, locations: "EU-CZ-1,EU-RO-1,EU-RO-2" });
});

test("over REST v2, a preview shows that a new password replaces the credential, and everything that uses it gets the new one", async () => {
  const [before] = emulator.registryAuths.list();
  await stack.writeProgram(program({ env: "two", workersMax: 4, further: true, password: "another-password" }));
  const { output } = await stack.succeed(["preview", "--diff"], V2);
  expect(output).toMatch(/ContainerRegistryAuth: \(replace\)/);
  expect(output).not.toContain("another-password");
  await stack.succeed(["up", "--yes", "--skip-preview"], V2);
  const [after, ...others] = emulator.registryAuths.list();
  expect(others).toEqual([]);
  expect(after?.id).not.toBe(before?.id);
  expect(emulator.registryAuths.matches(String(after?.id), "me", "another-password")).toBe(true);
  for (const name of ["by-delay", "by-count", "further"]) {
    expect(endpoint(name)?.container?.containerRegistryAuthId).toBe(after?.id);
  }
  ids = { ...ids, ghcr: String(after?.id) };
  expect(await idsInState()).toEqual(ids);
});

test("after the switch back to GraphQL, a preview shows no changes, and changes are made in place", async () => {
  await stack.succeed(["preview", "--expect-no-changes"], GRAPHQL);
  expect(emulator.journal.operations()).toEqual(["myself", "myself"]);
  // The service now has data centers where the program names countries: a refresh shows that, and
  // up writes the countries.
  await stack.succeed(["up", "--yes", "--skip-preview", "--refresh"], GRAPHQL);
  expect(endpoint("by-delay")).toMatchObject({ locations: "CZ,RO" });
  expect(endpoint("further")).toMatchObject({ locations: "CZ" });
  expect(new Set(traffic().writes)).toEqual(new Set(["saveEndpoint"]));
  expect(await idsInState()).toEqual(ids);
  await stack.succeed(["preview", "--refresh", "--expect-no-changes"], GRAPHQL);
});

test("over GraphQL, a changed template also reaches the endpoints for which REST v2 has made a copy of the template", async () => {
  expect(endpoint("by-count")?.container?.env).toEqual({ MODE: "two" });
  const changed = { env: "three", workersMax: 4, further: true, password: "another-password" };
  await stack.writeProgram(program(changed));
  const { output } = await stack.succeed(["up", "--yes", "--skip-preview"], GRAPHQL);
  expect(output).toContain("its templateRevision has changed");
  const [template] = emulator.templates.list().filter(({ name }) => name.startsWith("llama"));
  expect(template?.env).toEqual([{ key: "MODE", value: "three" }]);
  for (const name of ["by-delay", "by-count", "further"]) {
    expect(endpoint(name)).toMatchObject({ templateId: template?.id });
    expect(endpoint(name)?.container ?? null).toBeNull();
  }
  expect(await idsInState()).toEqual(ids);
  await stack.succeed(["preview", "--refresh", "--expect-no-changes"], GRAPHQL);
});

test("when the service has retired GraphQL, the error explains how to switch", async () => {
  emulator.faults.add({ match: { interface: "graphql" }, effect: { status: 410 } });
  const { exitCode, output } = await stack.run(["refresh", "--yes", "--skip-preview"], GRAPHQL);
  expect(exitCode).not.toBe(0);
  expect(output).toContain("Switch to REST v2: set SERVERLESS_GPU_API=v2");
  await stack.setConfig({ "serverless-gpu:api": "v2" });
  const { output: upOutput } = await stack.succeed(["up", "--yes", "--skip-preview"], { OWN_API: "v2" });
  // The settings of the explicit provider have changed, and nothing else.
  expect(upOutput).toMatch(/~ 1 updated\s+8 unchanged/);
  await stack.succeed(["preview", "--refresh", "--expect-no-changes"], { OWN_API: "v2" });
  emulator.faults.clear();
});

test("an unknown API name is refused before any call", async () => {
  emulator.journal.clear();
  const { exitCode, output } = await stack.run(["refresh", "--yes", "--skip-preview"], { SERVERLESS_GPU_API: "v3" });
  expect(exitCode).not.toBe(0);
  expect(output).toContain('the management API "v3" is unknown: use graphql or v2');
  expect(emulator.journal.requests()).toEqual([]);
});

test("destroy over REST v2 deletes all of the stack's resources and nothing else", async () => {
  emulator.seed({ endpoints: [{ id: "theirs", name: "theirs", gpuIds: "ADA_24", templateId: "theirs" }] });
  await stack.succeed(["destroy", "--yes", "--skip-preview"], V2);
  expect(endpointsIn(await stack.exportState())).toEqual([]);
  expect(emulator.endpoints.list().map(({ id }) => id)).toEqual(["theirs"]);
  expect([emulator.templates.list(), emulator.volumes.list(), emulator.registryAuths.list()]).toEqual([[], [], []]);
  expect(traffic().interfaces).toEqual(["v2"]);
});
