import path from "node:path";
import { type Emulator, type EmulatorOptions, startEmulator } from "../../emulator";
import { IS_EVERYWHERE } from "../support/everywhere";
import { createStack, type PulumiStack } from "./harness";
import { createPluginStack } from "./pluginStack";

const COMMAND = path.resolve(__dirname, "../../dist/cli/main.js");
const STATES = path.resolve(__dirname, "../fixtures/otherProviders");

type Seed = NonNullable<EmulatorOptions["seed"]>;

/** The records that the states describe, by the name of the state. */
const SEEDS: Readonly<Record<string, Seed>> = {
  "pulumi-runpod": {
    registryAuths: [{ id: "cm7psmarr7s0ci1ylh4fm6x0p", name: "ghcr", username: "me", password: "registry-canary" }],
    volumes: [{ id: "qq821n3jhg", name: "models", size: 50, dataCenterId: "EU-RO-1" }],
    templates: [
      {
        id: "0skq5l9sd5",
        name: "llama-template",
        imageName: "ghcr.io/me/llama:1.4.0",
        containerDiskInGb: 20,
        containerRegistryAuthId: "cm7psmarr7s0ci1ylh4fm6x0p",
        env: [{ key: "MODEL", value: "llama" }],
      },
    ],
    endpoints: [
      {
        id: "3shn76ek1qrsik",
        name: "llama",
        gpuIds: "ADA_24,AMPERE_24",
        locations: "EU-RO-1",
        networkVolumeId: "qq821n3jhg",
        templateId: "0skq5l9sd5",
      },
    ],
  },
  "pulumi-runpod-native": {
    templates: [
      {
        id: "jfb62hcf4z",
        name: "whisper-template",
        imageName: "ghcr.io/me/whisper:2.0.0",
        containerDiskInGb: 10,
        dockerArgs: "python -u handler.py",
        readme: "r",
        env: [{ key: "MODEL", value: "large-v3" }],
      },
    ],
    endpoints: [
      {
        id: "57fdk89e2c7ax9",
        name: "whisper",
        gpuIds: "AMPERE_16",
        locations: "EU-RO-1",
        idleTimeout: 5,
        workersMax: 2,
        templateId: "jfb62hcf4z",
      },
    ],
  },
  terraform: {
    registryAuths: [{ id: "cred-tf", name: "ghcr", username: "me", password: "registry-canary" }],
    volumes: [{ id: "vol-tf", name: "models", size: 50, dataCenterId: "EU-RO-1" }],
    templates: [
      {
        id: "tpl-tf",
        name: "llama-template",
        imageName: "ghcr.io/me/llama:1.4.0",
        containerDiskInGb: 30,
        containerRegistryAuthId: "cred-tf",
        dockerArgs: '{"cmd":["python","-u","handler.py"]}',
        ports: "8000/http",
        readme: "# Llama",
        env: [
          { key: "MODEL", value: "llama-3" },
          { key: "HF_TOKEN", value: "value-of-llama-HF_TOKEN" },
          { key: "DSN_FREE", value: "value-of-llama-DSN_FREE" },
        ],
      },
    ],
    endpoints: [
      {
        id: "end-tf",
        name: "llama",
        gpuIds: "ADA_24,AMPERE_24,-NVIDIA L4",
        locations: "EU-RO-1",
        flashBootType: "FLASHBOOT",
        idleTimeout: 15,
        executionTimeoutMs: 600_000,
        networkVolumeId: "vol-tf",
        templateId: "tpl-tf",
      },
    ],
  },
};

function records(emulator: Emulator) {
  return {
    endpoints: emulator.endpoints.list().map(({ pods, ...record }) => record),
    templates: emulator.templates.list(),
    volumes: emulator.volumes.list(),
  };
}

/** Writes what the command prints, and returns the rest. */
async function adoptFrom(stack: PulumiStack, state: string, ...flags: string[]) {
  const file = path.join(STATES, `${state}.json`);
  // No key and no service: the command needs neither.
  const env = { SERVERLESS_GPU_API_KEY: "", SERVERLESS_GPU_SERVICE: "", SERVERLESS_GPU_GRAPHQL_URL: "" };
  return stack.exec(process.execPath, [COMMAND, "adopt", "--from", file, ...flags], { env });
}

/** For a program whose types a preview has checked. */
const TYPES_KNOWN = { PULUMI_NODEJS_TRANSPILE_ONLY: "true" };

/** The states of a test over an API. With `npm run test:everywhere`, it has all of them. */
const statesOf = (api: "graphql" | "v2") =>
  Object.entries(SEEDS).filter(([name]) => IS_EVERYWHERE || (name === "terraform") === (api === "v2"));

test.each(
  statesOf("graphql"),
)("the program generated from the state of %s adopts every record, plans no other change, and leaves nothing to change later", async (name, seed) => {
  await using emulator = await startEmulator({ profile: "observed", seed, drainMs: 100 });
  const before = records(emulator);
  const stack = await createStack({ typescript: true, env: emulator.env });
  const { stdout, stderr } = await adoptFrom(stack, name);
  await stack.writeProgram(stdout, "index.ts");
  const secrets = [...stdout.matchAll(/config set --secret (\S+)/g)].map(([, key = ""]) => key);
  expect(stdout + stderr).not.toMatch(/canary|local-emulator-key/);
  if (secrets.length > 0)
    await stack.setConfig(Object.fromEntries(secrets.map((key) => [key, `value-of-${key}`])), { secret: true });

  const { output } = await stack.preview();
  const adopted = output.match(/ is adopted; no .*? is created\..*/g) ?? [];
  const expected = Object.values(seed).flat().length;
  expect(new Set(output.match(/\S+ \S+ \("[^"]*"\) is adopted/g)).size).toBe(expected);
  // The service does not show a credential's user and password.
  expect(new Set(adopted.filter((line) => !line.includes("Nothing changes"))).size).toBe(seed.registryAuths ? 1 : 0);
  expect(output.match(/.*→.*/g) ?? []).toEqual([]);

  await stack.succeed(["up", "--yes", "--skip-preview"], TYPES_KNOWN);
  expect(records(emulator)).toEqual(before);
  await stack.succeed(["preview", "--refresh", "--expect-no-changes"], TYPES_KNOWN);
  const deployed = await stack.exportState();
  expect(JSON.stringify(deployed)).not.toMatch(/registry-canary|value-of-/);
});

test.each(
  statesOf("v2"),
)("over REST v2, the program generated from the state of %s declares containers, omits credentials, and sends no write", async (name, seed) => {
  await using emulator = await startEmulator({ profile: "observed", seed, drainMs: 100 });
  const before = records(emulator);
  const stack = await createStack({ typescript: true, env: emulator.env });
  await stack.writeFile("Pulumi.yaml", "name: test\nruntime: nodejs\nconfig:\n  serverless-gpu:api: v2\n");
  const { stdout, stderr } = await adoptFrom(stack, name);
  expect(stderr).toMatch(/^the program is for REST v2 \(Pulumi\.yaml\)\n/);
  expect(stderr.includes("cannot be adopted over REST v2")).toBe(seed.registryAuths !== undefined);
  expect(stdout).not.toMatch(/templateId|ContainerRegistryAuth\(|user and the password/);
  await stack.writeProgram(stdout, "index.ts");
  const secrets = [...stdout.matchAll(/config set --secret (\S+)/g)].map(([, key = ""]) => key);
  if (secrets.length > 0)
    await stack.setConfig(Object.fromEntries(secrets.map((key) => [key, `value-of-${key}`])), { secret: true });
  emulator.journal.clear();
  const { output } = await stack.preview();
  const expected = Object.values(seed).flat().length - (seed.registryAuths?.length ?? 0);
  expect(new Set(output.match(/\S+ \S+ \("[^"]*"\) is adopted; no .*? is created\. Nothing changes/g)).size).toBe(
    expected,
  );
  await stack.succeed(["up", "--yes", "--skip-preview"], TYPES_KNOWN);
  expect(emulator.journal.requests().filter(({ method }) => method !== "GET")).toEqual([]);
  expect(records(emulator)).toEqual(before);
  await stack.succeed(["preview", "--refresh", "--expect-no-changes"], TYPES_KNOWN);
});

test("the file for pulumi import moves the records of a Terraform state to the plugin", async () => {
  await using emulator = await startEmulator({ profile: "observed", seed: SEEDS.terraform, drainMs: 100 });
  emulator.endpoints.create({ id: "end-types", name: "old", gpuIds: "ADA_24", templateId: "tpl-tf" });
  const before = records(emulator);
  const stack = await createPluginStack("", emulator.env);
  const { stdout } = await adoptFrom(stack, "terraform", "--import-file");
  await stack.writeFile("import.json", stdout);
  await stack.succeed(["import", "--file", "import.json", "--yes", "--protect=false", "--generate-code=false"]);
  const { deployment } = await stack.exportState();
  const imported = (deployment.resources ?? []).filter(({ type }) => type.startsWith("serverless-gpu:"));
  expect(imported.map(({ id }) => id).sort()).toEqual(["end-tf", "end-types", "tpl-tf", "vol-tf"]);
  await stack.succeed(["refresh", "--preview-only", "--expect-no-changes"]);
  expect(records(emulator)).toEqual(before);
});
