import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { createStack, type PulumiStack } from "../pulumi/harness";
import { attemptsIn, hasNamespaces, withoutNetwork } from "../support/withoutNetwork";
import { LANGUAGES, type Language, PYTHON, prepareProgram, prepareSdk } from "./languages";
import { ARCHIVE, VERSION } from "./plugin";

const COMMAND = path.resolve(__dirname, "../../dist/cli/main.js");
const TOKEN = "token-that-must-stay-encrypted";
const [YAML] = LANGUAGES as [Language];
/** Endpoints with their own container, those with a template each, volumes and secrets. */
const COUNTS = { own: 10, bound: 6, volumes: 4, secrets: 4 };
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

const TYPESCRIPT_PROGRAM = `import * as pulumi from "@pulumi/pulumi";
import { NetworkVolume, Secret, ServerlessEndpoint, ServerlessTemplate } from "pulumi-serverless-gpu";
const config = new pulumi.Config();
const [tag, token] = [config.require("tag"), config.requireSecret("token")];
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);
const gpuIds = ["ADA_24"];
const volumes = upTo(${COUNTS.volumes}).map((i) => new NetworkVolume(\`v\${i}\`, { name: \`v\${i}\`, size: 10, dataCenterId: "EU-RO-1" }));
for (const i of upTo(${COUNTS.secrets})) new Secret(\`s\${i}\`, { name: \`s\${i}\`, value: token });
for (const i of upTo(${COUNTS.bound})) {
  const template = new ServerlessTemplate(\`t\${i}\`, { name: \`t\${i}\`, imageName: \`me/t:\${tag}\`, env: { TOKEN: token } });
  new ServerlessEndpoint(\`b\${i}\`, { name: \`b\${i}\`, templateId: template.id, gpuIds, workersMax: 2 });
}
for (const i of upTo(${COUNTS.own}))
  new ServerlessEndpoint(\`o\${i}\`, {
    name: \`o\${i}\`, imageName: \`me/o:\${tag}\`, env: { TOKEN: token }, gpuIds, workersMax: 2, networkVolumeId: volumes[i]?.id,
  });
`;

const PYTHON_PROGRAM = `import pulumi
import pulumi_serverless_gpu as gpu

config = pulumi.Config()
tag, token = config.require("tag"), config.require_secret("token")
gpus = ["ADA_24"]
volumes = [gpu.NetworkVolume(f"v{i}", name=f"v{i}", size=10, data_center_id="EU-RO-1") for i in range(${COUNTS.volumes})]
for i in range(${COUNTS.secrets}):
    gpu.Secret(f"s{i}", name=f"s{i}", value=token)
for i in range(${COUNTS.bound}):
    template = gpu.ServerlessTemplate(f"t{i}", name=f"t{i}", image_name=f"me/t:{tag}", env={"TOKEN": token})
    gpu.ServerlessEndpoint(f"b{i}", name=f"b{i}", template_id=template.id, gpu_ids=gpus, workers_max=2)
for i in range(${COUNTS.own}):
    volume = volumes[i].id if i < len(volumes) else None
    gpu.ServerlessEndpoint(
        f"o{i}", name=f"o{i}", image_name=f"me/o:{tag}", env={"TOKEN": token}, gpu_ids=gpus, workers_max=2, network_volume_id=volume
    )
`;

const declared = (name: string, kind: string, properties: object) =>
  `  ${name}: ${JSON.stringify({ type: `serverless-gpu:${kind}`, properties: { name, ...properties } })}`;
/** Returns what YAML programs use for a value. */
const use = (name: string, before = "") => `${before}\${${name}}`;
const OF_TOKEN = { env: { TOKEN: use("token") } };
const ON_GPU = { gpuIds: ["ADA_24"], workersMax: 2 };

const YAML_PROGRAM = `name: languages
runtime: yaml
config:
  tag: { type: string }
  token: { type: string, secret: true }
resources:
${[
  ...upTo(COUNTS.volumes).map((i) => declared(`v${i}`, "NetworkVolume", { size: 10, dataCenterId: "EU-RO-1" })),
  ...upTo(COUNTS.secrets).map((i) => declared(`s${i}`, "Secret", { value: use("token") })),
  ...upTo(COUNTS.bound).flatMap((i) => [
    declared(`t${i}`, "ServerlessTemplate", { imageName: use("tag", "me/t:"), ...OF_TOKEN }),
    declared(`b${i}`, "ServerlessEndpoint", { templateId: use(`t${i}.id`), ...ON_GPU }),
  ]),
  ...upTo(COUNTS.own).map((i) => {
    const volume = i < COUNTS.volumes ? { networkVolumeId: use(`v${i}.id`) } : {};
    return declared(`o${i}`, "ServerlessEndpoint", {
      imageName: use("tag", "me/o:"),
      ...OF_TOKEN,
      ...ON_GPU,
      ...volume,
    });
  }),
].join("\n")}
`;

async function stackIn(title: string, env: Readonly<Record<string, string>>): Promise<PulumiStack> {
  if (title === "TypeScript") return createStack({ program: TYPESCRIPT_PROGRAM, typescript: true, env });
  const [language, program] = title === "YAML" ? [YAML, YAML_PROGRAM] : [PYTHON, PYTHON_PROGRAM];
  const folder = await prepareProgram(language);
  const stack = await createStack({ folder, env: { ...env, ...language.env } });
  await stack.succeed(["plugin", "install", "resource", "serverless-gpu", VERSION, "--file", ARCHIVE]);
  await stack.writeProgram(program, language.program);
  return stack;
}

const wordsOf = (args: readonly string[]) => {
  const words = [process.execPath, COMMAND, "check", "--rehearse", "--stack", "dev", "--from-state", "--json", ...args];
  return hasNamespaces ? withoutNetwork(words) : ([words[0], words.slice(1)] as [string, string[]]);
};

async function rehearse(stack: PulumiStack) {
  const [command, args] = wordsOf(["--env", "PYTHONPATH"]);
  const begin = Date.now();
  // Neither the key nor the passphrase.
  const env = { PULUMI_CONFIG_PASSPHRASE: "", SERVERLESS_GPU_API_KEY: "" };
  const { exitCode, stdout, stderr } = await stack.exec(command, args, { env });
  const isSilent = exitCode === 0 && (!hasNamespaces || attemptsIn(stderr) === 0);
  expect({ exitCode, stderr: isSilent ? "" : stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout + stderr).not.toContain(TOKEN);
  return { applied: JSON.parse(stdout).applied, seconds: Math.round((Date.now() - begin) / 1000) };
}

beforeAll(() => prepareSdk(PYTHON));

describe.each(["TypeScript", "YAML", "Python"])("%s", (title) => {
  test.each(["graphql", "v2"])("An update of a stack of 30 is rehearsed over %s, without a network", async (api) => {
    await using emulator: Emulator = await startEmulator({ profile: "observed", drainMs: 0, templateReleaseMs: 0 });
    const env = { ...emulator.env, SERVERLESS_GPU_SERVICE: "runpod", SERVERLESS_GPU_API: api };
    const stack = await stackIn(title, env);
    await stack.setConfig({ tag: "1" });
    await stack.setConfig({ token: TOKEN }, { secret: true });
    await stack.up();
    const requests = emulator.journal.requests().length;

    const same = await rehearse(stack);
    expect(same.applied).toMatchObject({ changes: [], left: [], requests: 1 });

    await stack.setConfig({ tag: "2" });
    const { applied, seconds } = await rehearse(stack);
    const count = (wanted: string) => applied.changes.filter(({ what }: { what: string }) => what === wanted).length;
    expect({ ...applied, changes: [count("rolled out"), count("updated"), applied.changes.length] }).toMatchObject({
      changes: [COUNTS.own + COUNTS.bound, COUNTS.bound, COUNTS.own + 2 * COUNTS.bound],
      left: [],
    });
    expect([applied.failure, applied.destroyFailure]).toEqual([undefined, undefined]);
    expect(emulator.journal.requests()).toHaveLength(requests);
    console.log(
      `${title}, ${api}: ${applied.requests} requests, ${applied.limitedS} s of waits, ${seconds} s to rehearse`,
    );
  });
});
