import { type Emulator, startEmulator } from "../../../emulator";
import { type Properties, startDynamicProvider } from "../../support/dynamicProvider";
import { ENDPOINT, REGISTRY_AUTH, TEMPLATE } from "./runs";

// Checks programs that are refused, or that cause a warning, and then the program that the message
// advises.

const RUNPOD = { SERVERLESS_GPU_SERVICE: "runpod" };
const V2 = { ...RUNPOD, SERVERLESS_GPU_API: "v2" };
const OWN = { name: "llama", gpuIds: "ADA_24", imageName: "me/app:1" };
const ROLL_OUT = { test: { input: { prompt: "x" } } };
const BALANCER = { endpointType: "LOAD_BALANCER", ...OWN };

interface Play {
  readonly title: string;
  readonly env: Readonly<Record<string, string>>;
  readonly refused: Properties;
  readonly says: RegExp;
  /** The programs that the message advises. */
  readonly advised: readonly Properties[];
  /** @default env */
  readonly advisedEnv?: Readonly<Record<string, string>>;
}

const PLAYS: readonly Play[] = [
  {
    title: "a start command in two forms",
    env: RUNPOD,
    refused: { ...TEMPLATE, command: "a", dockerArgs: "b" },
    says: /set either command or dockerArgs/,
    advised: [{ ...TEMPLATE, dockerArgs: "b" }],
  },
  {
    title: "a rollout of an endpoint with a template",
    env: RUNPOD,
    refused: { ...ENDPOINT, rollOut: ROLL_OUT },
    says: /Set imageName and the other container settings on the endpoint/,
    advised: [{ ...OWN, rollOut: ROLL_OUT }],
  },
  {
    title: "a rollout of a load balancer that counts jobs",
    env: V2,
    refused: { ...BALANCER, rollOut: { watch: { maxFailed: 0.05 } } },
    says: /remove it, and use rollOut\.test with path/,
    advised: [{ ...BALANCER, rollOut: { test: { path: "/ping" } } }],
  },
  {
    title: "templateRevision of an endpoint without a template",
    env: RUNPOD,
    refused: { ...OWN, templateRevision: 1 },
    says: /which this endpoint does not have: remove it/,
    advised: [OWN],
  },
  {
    title: "a fraction over GraphQL",
    env: RUNPOD,
    refused: { ...OWN, executionTimeoutMs: 0, scalerType: "REQUEST_COUNT", scalerValue: 4, drain: false },
    says: /Remove drain, or switch to REST v2/,
    advised: [{ ...OWN, executionTimeoutMs: 0, scalerType: "REQUEST_COUNT", scalerValue: 4 }],
  },
  {
    title: "GPU pools and instances at once",
    env: RUNPOD,
    refused: { ...OWN, instanceIds: "cpu3c-2-4" },
    says: /remove one of them|remove it/,
    advised: [OWN, { ...OWN, gpuIds: undefined, instanceIds: "cpu3c-2-4" }],
  },
  {
    title: "a list of settings in JSON",
    env: { ...RUNPOD },
    refused: { ...OWN, gpuIds: "NEW_POOL" },
    says: /To accept another pool, add it to serverless-gpu:extraGpuTiers/,
    advised: [{ ...OWN, gpuIds: "NEW_POOL" }],
    advisedEnv: { ...RUNPOD, SERVERLESS_GPU_EXTRA_GPU_TIERS: "NEW_POOL" },
  },
  {
    title: "a plain key in a variable",
    env: RUNPOD,
    refused: { ...OWN, env: { OPENAI_API_KEY: "sk-abcdefghijklmnopqrstuvwx1234567890ABCDEF" } },
    says: /Keep a key in a Secret, and set the variable to the secret's reference/,
    advised: [{ ...OWN, env: { OPENAI_API_KEY: "{{ RUNPOD_SECRET_openai }}" } }],
  },
  ["an image without a fixed tag", RUNPOD, { ...OWN, imageName: "me/app:latest" }, /Use a tag for each version/, [OWN]],
  {
    title: "a registry credential without its password",
    env: RUNPOD,
    refused: { ...REGISTRY_AUTH, password: undefined },
    says: /password/,
    advised: [REGISTRY_AUTH],
  },
];

let emulator: Emulator;
/** One provider process for each environment. */
const providers = new Map<string, ReturnType<typeof startDynamicProvider>>();
beforeAll(async () => {
  emulator = await startEmulator({ profile: "observed" });
});
afterAll(async () => {
  for (const provider of providers.values()) await (await provider).stop();
  await emulator.stop();
});

/** Returns the problems of a program, and what its check logs. */
async function problems(program: Properties, env: Readonly<Record<string, string>>): Promise<string> {
  const key = JSON.stringify(env);
  if (!providers.has(key)) providers.set(key, startDynamicProvider({ ...emulator.env, ...env }));
  const provider = await providers.get(key);
  const before = provider?.output().length;
  const checked = await provider?.check({}, JSON.parse(JSON.stringify(program)));
  const logged = provider?.output().slice(before);
  return [...(checked?.failures ?? []).map(({ reason }) => reason), logged].join("\n");
}

test.each(PLAYS)("$title: the program that the message advises is accepted", async ({
  env,
  refused,
  says,
  advised,
  advisedEnv = env,
}) => {
  expect(await problems(refused, env)).toMatch(says);
  for (const program of advised) expect(await problems(program, advisedEnv)).not.toMatch(says);
});
