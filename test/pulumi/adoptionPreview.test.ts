import { type Emulator, startEmulator } from "../../emulator";
import { createStack, endpointsIn, type PulumiStack } from "./harness";

const SECRET = "template-of-the-secret-kind";

let emulator: Emulator;
let ids: Record<string, string>;
let stack: PulumiStack;

const program = (adopt: string) => `
const pulumi = require("@pulumi/pulumi");
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
const adopt = ${adopt};
adopt("differs", { gpuIds: ["AMPERE_24"], templateId: pulumi.secret("${SECRET}"), workersMax: 3, idleTimeout: null });
adopt("same", { gpuIds: "AMPERE_16", templateId: "template" });
`;

const adopting = () => `(name, args) =>
  new ServerlessEndpoint(name, { adoptId: ${JSON.stringify(ids)}[name], ...args })`;

beforeAll(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0 });
  const made = { gpuIds: "AMPERE_16", templateId: "template" };
  ids = {
    differs: emulator.endpoints.create({ ...made, name: "by hand", workersMax: 9, idleTimeout: 77 }).id,
    same: emulator.endpoints.create({ ...made, name: "same" }).id,
  };
  stack = await createStack({ program: program(adopting()), env: emulator.env });
});

beforeEach(() => emulator.journal.clear());

afterAll(() => emulator.stop());

test("a preview shows an adoption's changes field by field, without secrets, and needs only one list", async () => {
  const { output } = await stack.preview("--diff");
  expect(output).toContain(
    `endpoint ${ids.differs} ("by hand") is adopted; no endpoint is created. The program changes:`,
  );
  expect(output).toContain('gpuIds: "AMPERE_16" → "AMPERE_24"');
  expect(output).toContain("workersMax: 9 → 3");
  expect(output).toContain("idleTimeout: 77 → 10");
  expect(output).toContain("templateId: [secret]");
  expect(output).toContain(`endpoint ${ids.same} ("same") is adopted; no endpoint is created. Nothing changes`);
  expect(output).not.toContain(SECRET);
  expect(emulator.journal.operations()).toEqual(["myself"]);
});

test("an id that does not exist fails the preview with an error on its resource, and the other resources are still shown", async () => {
  await stack.writeProgram(
    program(
      `(name, args) => new ServerlessEndpoint(name, { adoptId: name === "same" ? "${ids.same}" : "nowhere", ...args })`,
    ),
  );
  const { exitCode, output } = await stack.run(["preview"]);
  expect(exitCode).not.toBe(0);
  expect(output).toMatch(/ServerlessEndpoint \(differs\):\n +error: endpoint nowhere does not exist in this account/);
  expect(output).toContain(`endpoint ${ids.same} ("same") is adopted`);
});

test.each([
  ["without a key", { SERVERLESS_GPU_API_KEY: "" }, "there is no API key"],
  ["with a wrong key", { SERVERLESS_GPU_API_KEY: "another-key-7" }, "401"],
])("%s, the preview warns and continues", async (_case, env, reason) => {
  await stack.writeProgram(program(adopting()));
  const { exitCode, output } = await stack.run(["preview"], env);
  expect(exitCode).toBe(0);
  expect(output).toMatch(
    new RegExp(`\\(same\\):\\n +warning: the preview cannot show the changes of the adoption: .*${reason}`),
  );
});

test("a preview reports an id, a value or a provider that is not known yet", async () => {
  await stack.writeProgram(`
const { ServerlessEndpoint, ServerlessGpuProvider } = require("pulumi-serverless-gpu");
const made = { gpuIds: "AMPERE_16", templateId: "template" };
const first = new ServerlessEndpoint("first", made);
new ServerlessEndpoint("id", { ...made, adoptId: first.id });
new ServerlessEndpoint("value", { ...made, adoptId: "${ids.differs}", workersMax: 3, networkVolumeId: first.queueUrl });
const provider = new ServerlessGpuProvider("other", { apiKey: first.id, graphqlUrl: "${emulator.url}", queueUrl: "${emulator.url}" });
new ServerlessEndpoint("provider", { ...made, adoptId: "${ids.same}" }, { provider });
`);
  const { output } = await stack.preview("--diff");
  expect(output).toContain("the preview cannot show the changes of the adoption: adoptId is not known yet");
  expect(output).toContain("workersMax: 9 → 3\n");
  expect(output).toContain("networkVolumeId: to a value that is not known yet");
  expect(output).toContain(
    "the preview cannot show the changes of the adoption: the provider's settings are not known yet",
  );
  expect(output).not.toContain(`${ids.same} (`);
});

test("up shows its changes without secret values, and later runs with adoptId print nothing and read only the list of endpoints", async () => {
  await stack.writeProgram(program(adopting()));
  const up = await stack.up();
  expect(up.output).toContain(`adopted endpoint ${ids.differs}; changed gpuIds "AMPERE_16" → "AMPERE_24"`);
  expect(up.output).toContain("templateId [secret]");
  expect(up.output).not.toContain(SECRET);
  expect(emulator.endpoints.get(ids.differs ?? "")).toMatchObject({ templateId: SECRET, workersMax: 3 });

  emulator.journal.clear();
  const { output } = await stack.preview("--expect-no-changes");
  expect(output).not.toContain("is adopted");
  expect(emulator.journal.operations()).toEqual(["myself"]);
  const state = JSON.stringify(endpointsIn(await stack.exportState()));
  expect(state).not.toContain(SECRET);
});

test("an error about a secret input does not show its value", async () => {
  await stack.writeProgram(
    program(`(name, args) => new ServerlessEndpoint(name, { adoptId: ${JSON.stringify(ids)}[name], ...args,
      gpuIds: pulumi.secret(["ADA_2444"]), workersMin: pulumi.secret(77123), workersMax: 3,
      locations: [pulumi.secret("HIDDEN_PLACE")] })`),
  );
  const { exitCode, output } = await stack.run(["preview"]);
  expect(exitCode).not.toBe(0);
  for (const field of ["gpuIds", "workersMin", "locations"]) {
    expect(output).toContain(`${field} has an invalid value, which is secret and not shown`);
  }
  expect(output).not.toMatch(/HIDDEN|ADA_2444|77123/);
});

describe("templates, volumes and credentials", () => {
  const ENV_SECRET = "env-canary-88a1";
  const PASSWORD = "password-canary-88a2";
  const FOREIGN = "foreign-canary-88a3";

  const records = ({ ids = ["t1", "v1", "r1"], size = 80 }: { ids?: string[]; size?: number } = {}) => `
const pulumi = require("@pulumi/pulumi");
const { ContainerRegistryAuth, NetworkVolume, ServerlessEndpoint, ServerlessTemplate } = require("pulumi-serverless-gpu");
const later = new ServerlessEndpoint("later", { gpuIds: "AMPERE_16", templateId: "template" }).queueUrl;
const [t, v, r] = ${JSON.stringify(ids)};
new ServerlessTemplate("template", { adoptId: t, imageName: "app:2", containerDiskInGb: 30, readme: pulumi.secret("hidden words"),
  ports: ["8000/http", "22/tcp"], env: { HF_TOKEN: "${ENV_SECRET}", MODE: "fast", SAME: "same", URL: later } });
new NetworkVolume("volume", { adoptId: v, size: ${size}, dataCenterId: "EU-RO-1" });
new ContainerRegistryAuth("registry", { adoptId: r, username: "me", password: pulumi.secret("${PASSWORD}") });
`;

  beforeAll(async () => {
    const env = Object.entries({ MODE: FOREIGN, SAME: "same", PORT: FOREIGN }).map(([key, value]) => ({ key, value }));
    emulator.templates.create({
      id: "t1",
      name: "llama",
      imageName: "app:1",
      isServerless: true,
      ports: "22/tcp",
      env,
    });
    emulator.templates.create({ id: "t2", name: "of pods", imageName: "app:1", isServerless: false });
    emulator.volumes.create({ id: "v1", name: "models", size: 50, dataCenterId: "EU-RO-1" });
    emulator.registryAuths.create({ id: "r1", name: "ghcr", username: "you", password: FOREIGN });
    stack = await createStack({ program: records(), env: emulator.env });
  });

  const expectNoSecrets = (output: string) => {
    for (const secret of [ENV_SECRET, PASSWORD, FOREIGN, "hidden words"]) expect(output).not.toContain(secret);
  };

  test("a preview shows the changes field by field, without secrets and variable values", async () => {
    const { output } = await stack.preview("--diff");
    expect(output).toContain('template t1 ("llama") is adopted; no template is created. The program changes:');
    for (const line of [
      'imageName: "app:1" → "app:2"',
      "env: sets HF_TOKEN, MODE\n",
      "env: sets URL to a value that is not known yet",
      "containerDiskInGb: 20 → 30",
      'ports: "22/tcp" → "22/tcp,8000/http"',
      "readme: [secret]",
      'network volume v1 ("models") is adopted; no network volume is created. The program changes:',
      "size: 50 → 80",
      'registry credential r1 ("ghcr") is adopted; no registry credential is created. The program changes:',
      "username: [secret]",
      "password: [secret]",
    ]) {
      expect(output).toContain(line);
    }
    expectNoSecrets(output);
    // One list of each kind.
    expect(emulator.journal.operations()).toEqual(["myself", "myself", "myself"]);
  });

  test("a preview fails for a record that does not exist or must not be adopted, and warns about an id that is not known yet", async () => {
    const unknown = 'new NetworkVolume("unknown", { adoptId: later, size: 50, dataCenterId: "EU-RO-1" });';
    await stack.writeProgram(records({ ids: ["t2", "v1", "nowhere"], size: 20 }) + unknown);
    const { exitCode, output } = await stack.run(["preview"]);
    expect(exitCode).not.toBe(0);
    expect(output).toContain("a template with the id t2 cannot be adopted: it is a pod template");
    expect(output).toContain("a network volume with the id v1 cannot be adopted: it has 50 GB");
    expect(output).toContain("registry credential nowhere does not exist in this account, so it cannot be adopted");
    expect(output).toMatch(/NetworkVolume \(unknown\):\n +warning: the preview cannot .*: adoptId is not known yet/);
  });

  test("up makes exactly these changes", async () => {
    await stack.writeProgram(records());
    const { output } = await stack.up();
    expectNoSecrets(output);
    expect(emulator.templates.get("t1")).toMatchObject({ imageName: "app:2", containerDiskInGb: 30 });
    expect(emulator.templates.get("t1")?.env).toContainEqual({ key: "PORT", value: FOREIGN });
    expect(emulator.volumes.get("v1")).toMatchObject({ size: 80 });
    expect(emulator.registryAuths.matches("r1", "me", PASSWORD)).toBe(true);
    expect([emulator.templates.list().length, emulator.volumes.list().length]).toEqual([2, 1]);
  });
});
