import { type Emulator, type HandlerContext, type HandlerJob, startEmulator } from "../../emulator";
import { createStack, type PulumiStack } from "./harness";

const HF_TOKEN = "hf-canary-5b1f7a90c2";
const PASSWORD = "ghcr-canary-77d1e0f3aa";
const ROTATED = "ghcr-canary-rotated-01b2";
const FOREIGN = "foreign-canary-e2a9";

interface Options {
  readonly image?: string;
  readonly model?: string;
  readonly template?: string;
  readonly endpoint?: string;
}

/** The program of the documents: from a registry's credential to an endpoint that responds. */
function program({
  image = "ghcr.io/me/llama:1.4.0",
  model = "llama-3",
  template = "{}",
  endpoint = "",
}: Options = {}): string {
  return `
const pulumi = require("@pulumi/pulumi");
const { ContainerRegistryAuth, NetworkVolume, ServerlessEndpoint, ServerlessTemplate, SmokeTest } = require("pulumi-serverless-gpu");
const config = new pulumi.Config();
const registry = new ContainerRegistryAuth("ghcr", { username: "me", password: config.requireSecret("ghcr") });
const template = new ServerlessTemplate("llama", {
  imageName: "${image}",
  env: { HF_TOKEN: config.requireSecret("hf"), MODEL: "${model}" },
  containerDiskInGb: 20,
  containerRegistryAuthId: registry.id,
}, ${template});
const models = new NetworkVolume("models", { size: 50, dataCenterId: "EU-RO-1" });
const llama = new ServerlessEndpoint("llama", {
  templateId: template.id, templateRevision: template.revision, networkVolumeId: models.id,
  gpuIds: ["ADA_24"], locations: ["EU-RO-1"], workersMax: 2 ${endpoint}
});
new SmokeTest("responds", {
  endpointId: llama.endpointId, input: { prompt: "x" }, expectedOutput: "${image} ${model}", triggers: [template.revision],
});
exports.templateId = template.id;
exports.revision = template.revision;
exports.endpointId = llama.endpointId;
exports.env = template.env;
exports.disk = template.containerDiskInGb;
`;
}

/** Each job says which version of the template it runs with. */
const handlers = {
  default: async ({ input }: HandlerJob, { sleep, imageName, env }: HandlerContext) => {
    await sleep((input as { ms?: number }).ms ?? 0);
    return `${imageName} ${env.MODEL}`;
  },
};

let emulator: Emulator;
let stack: PulumiStack;

beforeAll(async () => {
  emulator = await startEmulator({
    profile: "contract",
    handlers,
    strictReferences: true,
    drainMs: 100,
    coldStartMs: 50,
    templateReleaseMs: 3_000,
  });
  stack = await createStack({ program: program(), env: emulator.env });
  await stack.setConfig({ "test:hf": HF_TOKEN, "test:ghcr": PASSWORD }, { secret: true });
});

beforeEach(() => emulator.journal.clear());

afterAll(() => emulator.stop());

const operations = () => emulator.journal.operations();
const saves = () => operations().filter((operation) => /^(save|create|update|delete)/.test(operation ?? ""));
const only = <T>([first, ...others]: readonly T[]): T => {
  if (first === undefined || others.length > 0) throw new Error(`there are ${others.length + 1} records, not 1`);
  return first;
};
const template = () => only(emulator.templates.list());
const endpoint = () => only(emulator.endpoints.list());

async function runJob(ms: number): Promise<() => Promise<unknown>> {
  const headers = { authorization: emulator.apiKey, "content-type": "application/json" };
  const url = `${emulator.url}/v2/${endpoint().id}`;
  const body = JSON.stringify({ input: { ms } });
  const { id } = (await (await fetch(`${url}/run`, { method: "POST", headers, body })).json()) as { id: string };
  return async () => {
    for (;;) {
      const job = (await (await fetch(`${url}/status/${id}`, { headers })).json()) as {
        status: string;
        output?: unknown;
      };
      if (!/^IN_/.test(job.status)) return job.output ?? job.status;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
}

async function expectNoSecrets(outputs: readonly string[]): Promise<void> {
  const files = [...(await stack.files())].filter(([file]) => !file.endsWith("index.js"));
  for (const secret of [HF_TOKEN, PASSWORD, ROTATED, FOREIGN]) {
    for (const output of outputs) expect(output).not.toContain(secret);
    for (const [file, text] of files) if (text.includes(secret)) throw new Error(`${file} holds ${secret}`);
    expect(JSON.stringify(emulator.journal.requests())).not.toContain(secret);
  }
}

test("up creates the whole chain with one request per resource, and the endpoint's response shows the image and the variables", async () => {
  const { output } = await stack.up();
  expect(saves().sort()).toEqual(["createNetworkVolume", "saveEndpoint", "saveRegistryAuth", "saveTemplate"]);
  expect(template()).toMatchObject({
    name: expect.stringMatching(/^llama-[0-9a-f]{7}$/),
    isServerless: true,
    env: [
      { key: "HF_TOKEN", value: HF_TOKEN },
      { key: "MODEL", value: "llama-3" },
    ],
  });
  expect(endpoint()).toMatchObject({ templateId: template().id, networkVolumeId: only(emulator.volumes.list()).id });
  const { env } = JSON.parse((await stack.succeed(["stack", "output", "--json"])).stdout);
  expect(env).toBe("[secret]");
  const resources = (await stack.exportState()).deployment.resources ?? [];
  const state = resources.find(({ type }) => type.endsWith("ServerlessTemplate"));
  for (const properties of [state?.inputs, state?.outputs]) {
    expect(properties?.env).toEqual({
      HF_TOKEN: expect.objectContaining({ ciphertext: expect.any(String) }),
      MODEL: "llama-3",
    });
  }
  await expectNoSecrets([output]);
});

test("running the same program again reads the list of endpoints once, and a refresh only reads", async () => {
  await stack.preview("--expect-no-changes");
  expect(operations()).toEqual(["myself"]);
  await stack.refresh("--expect-no-changes");
  expect(new Set(operations())).toEqual(new Set(["myself"]));
  const resources = (await stack.exportState()).deployment.resources ?? [];
  const state = resources.find(({ type }) => type.endsWith("ServerlessTemplate"));
  expect(state?.outputs?.env).toEqual({
    HF_TOKEN: expect.objectContaining({ ciphertext: expect.any(String) }),
    MODEL: "llama-3",
  });
});

test("drift of the image, disk and environment is shown and repaired, and other people's variables are not added to state", async () => {
  const { id } = template();
  const env = [
    { key: "MODEL", value: "elsewhere" },
    { key: "PORT_HEALTH", value: FOREIGN },
  ];
  emulator.templates.change(id, { imageName: "ghcr.io/me/other:9", containerDiskInGb: 77, env });
  const { output } = await stack.succeed(["up", "--yes", "--refresh", "--diff"]);
  const shown = output.slice(0, output.search(/^Updating/m));
  for (const field of ["imageName", "containerDiskInGb", "MODEL"]) expect(shown).toContain(field);
  expect(template()).toMatchObject({ imageName: "ghcr.io/me/llama:1.4.0", containerDiskInGb: 20 });
  expect(template().env).toEqual([
    { key: "HF_TOKEN", value: HF_TOKEN },
    { key: "MODEL", value: "llama-3" },
    { key: "PORT_HEALTH", value: FOREIGN },
  ]);
  await expectNoSecrets([output]);
});

test("a changed image is rolled out in place without losing the running job, and the next job uses the new image", async () => {
  const running = await runJob(1_500);
  const image = "ghcr.io/me/llama:1.5.0";
  await stack.writeProgram(program({ image, endpoint: ", recycleWorkers: true" }));
  const { output } = await stack.up();
  expect(output).toContain("it is scaled to zero until its workers have stopped");
  expect(await running()).toBe("ghcr.io/me/llama:1.4.0 llama-3");
  expect(endpoint()).toMatchObject({ workersMin: 0, workersMax: 2 });
  expect(await (await runJob(0))()).toBe(`${image} llama-3`);
  await stack.preview("--refresh", "--expect-no-changes");
});

test("a changed variable is rolled out with a new template, and the old template is deleted once the service releases it", async () => {
  const before = template();
  const running = await runJob(1_500);
  const options = '{ replaceOnChanges: ["env"] }';
  const image = "ghcr.io/me/llama:1.5.0";
  await stack.writeProgram(program({ image, model: "llama-4", template: options }));
  const { output } = await stack.up();
  expect(output).toContain("waiting until the service releases the template");
  expect(template().id).not.toBe(before.id);
  expect(endpoint().templateId).toBe(template().id);
  expect(await running()).toBe(`${image} llama-3`);
  expect(await (await runJob(0))()).toBe(`${image} llama-4`);
});

test("a password is rotated in place and never shown", async () => {
  const { id } = only(emulator.registryAuths.list());
  await stack.setConfig({ "test:ghcr": ROTATED }, { secret: true });
  const { output } = await stack.succeed(["up", "--yes", "--diff"]);
  expect(saves()).toEqual(["updateRegistryAuth"]);
  expect(only(emulator.registryAuths.list()).id).toBe(id);
  await expectNoSecrets([output]);
});

test("destroy deletes all resources in order", async () => {
  const { output } = await stack.destroy();
  expect(emulator.endpoints.list()).toEqual([]);
  expect(emulator.templates.list()).toEqual([]);
  expect(emulator.volumes.list()).toEqual([]);
  expect(emulator.registryAuths.list()).toEqual([]);
  const deletions = saves().filter((operation) => operation?.startsWith("delete"));
  expect(deletions.indexOf("deleteEndpoint")).toBeLessThan(deletions.indexOf("deleteTemplate"));
  expect(deletions.lastIndexOf("deleteTemplate")).toBeLessThan(deletions.indexOf("deleteRegistryAuth"));
  await expectNoSecrets([output]);
});
