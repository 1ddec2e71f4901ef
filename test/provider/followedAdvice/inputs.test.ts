import { type Emulator, startEmulator } from "../../../emulator";
import { type Properties, startDynamicProvider } from "../../support/dynamicProvider";
import { ENDPOINT } from "./runs";

// Checks programs that are refused, and then the programs that the message advises.

const OWN = { name: "llama", gpuIds: "ADA_24", imageName: "me/app:1" };
const ROLL_OUT = { test: { input: { prompt: "x" } } };
const BALANCER = { ...OWN, type: "LOAD_BALANCER", scalerType: "REQUEST_COUNT", scalerValue: 4 };

interface Play {
  readonly title: string;
  readonly refused: Properties;
  readonly says: RegExp;
  /** The programs that the message advises. */
  readonly advised: readonly Properties[];
}

const PLAYS: readonly Play[] = [
  {
    title: "a rollout of an endpoint with a template",
    refused: { ...ENDPOINT, rollOut: ROLL_OUT },
    says: /Set imageName and the other container settings on the endpoint/,
    advised: [{ ...OWN, rollOut: ROLL_OUT }],
  },
  {
    title: "a rollout of a load balancer that counts jobs",
    refused: { ...BALANCER, rollOut: { watch: { seconds: 60, maxFailed: 0.05 } } },
    says: /remove it, and use rollOut\.test with path/,
    advised: [{ ...BALANCER, rollOut: { test: { path: "/ping" } } }],
  },
  {
    title: "templateRevision of an endpoint without a template",
    refused: { ...OWN, templateRevision: 1 },
    says: /which this endpoint does not have: remove it/,
    advised: [OWN],
  },
  {
    title: "GPU pools and instances at once",
    refused: { ...OWN, instanceIds: "cpu3c-2-4" },
    says: /remove one of them|remove it/,
    advised: [OWN, { name: "llama", imageName: "me/app:1", instanceIds: "cpu3c-2-4" }],
  },
];

let emulator: Emulator;
let provider: Awaited<ReturnType<typeof startDynamicProvider>>;
beforeAll(async () => {
  emulator = await startEmulator({ profile: "observed" });
  provider = await startDynamicProvider({
    ...emulator.env,
    SERVERLESS_GPU_SERVICE: "runpod",
    SERVERLESS_GPU_API: "v2",
  });
});
afterAll(() => Promise.all([provider.stop(), emulator.stop()]));

async function problems(program: Properties): Promise<string[]> {
  return (await provider.check({}, program)).failures.map(({ reason }) => reason);
}

test.each(PLAYS)("$title: the program that the message advises is accepted", async ({ refused, says, advised }) => {
  expect((await problems(refused)).join("\n")).toMatch(says);
  for (const program of advised) expect(await problems(program)).toEqual([]);
});
