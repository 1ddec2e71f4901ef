import type { EmulatorOptions } from "../../../emulator";
import type { CauseId } from "../../../sdk/diagnosis/causes";
import type { Emulated } from "../../support/emulated";

// Provokes each cause that the emulator can show, does what its advice says, and checks that the
// job ends and that the cause is no longer named.

export const MINUTE = 60_000;
export const SETTINGS = { name: "llama", templateId: "t", gpuIds: "ADA_24", workersMax: 1 };

interface Play {
  readonly cause: CauseId;
  /** What the advice must say. */
  readonly says: RegExp;
  readonly emulator?: EmulatorOptions;
  /** The settings that differ from `SETTINGS`. */
  readonly settings?: object;
  /** Runs before the endpoint is created. */
  prepare?(emulated: Emulated): unknown;
  /** Runs after the job was submitted. */
  provoke?(emulated: Emulated, id: string): unknown;
  /** Does what the advice says. */
  follow(emulated: Emulated, id: string): unknown;
  /** How long the advised action takes, in milliseconds. @default MINUTE */
  readonly takesMs?: number;
}

const update = (settings: object) => (emulated: Emulated, id: string) =>
  emulated.run(emulated.client.endpoints.update(id, settings));
const soldOut =
  (match: object) =>
  ({ emulator }: Emulated) =>
    emulator.faults.add({ match, effect: { soldOut: true } });
const fault =
  (effect: object) =>
  ({ emulator }: Emulated) =>
    emulator.faults.add({ effect, times: 1 });
export const handlers = { default: () => ({ text: "4" }) };
const slowJobs: EmulatorOptions = {
  handlers: {
    default: async (_, { sleep }) => {
      await sleep(5 * MINUTE);
      return { text: "4" };
    },
  },
};
const ofContainer = { templateId: undefined, imageName: "me/app:1" };

/** Checks that a cause is gone although the job still waits, for another reason. */
async function isGone({ client, clock, run }: Emulated, id: string, cause: CauseId) {
  // Longer than limits and secrets are kept.
  await clock.advance(2 * MINUTE);
  const { causes } = await run(client.endpoints.diagnose(id));
  expect(causes.map((each) => each.id)).toEqual(expect.not.arrayContaining([cause]));
  expect(causes.map((each) => each.id)).toContain("no-stock");
}

export const PLAYS: readonly Play[] = [
  {
    cause: "no-workers-allowed",
    says: /^Set workersMax to 1 or more/,
    settings: { workersMax: 0 },
    follow: update({ workersMax: 1 }),
  },
  {
    cause: "image-pull",
    says: /^Check the image's name and tag/,
    settings: ofContainer,
    prepare: ({ emulator }) => emulator.faults.add({ effect: { imagePullError: true } }),
    async follow(emulated, id) {
      // The wrong tag is what the fault stands for.
      emulated.emulator.faults.clear();
      await update({ imageName: "me/app:2" })(emulated, id);
    },
    takesMs: 10 * MINUTE,
  },
  {
    cause: "crash-loop",
    says: /^Read the log \(npx pulumi-serverless-gpu logs \S+ --api v2\), and run the image/,
    settings: ofContainer,
    prepare: ({ emulator }) => emulator.faults.add({ effect: { crashLoop: true } }),
    async follow(emulated, id) {
      emulated.emulator.faults.clear();
      await update({ imageName: "me/app:2" })(emulated, id);
    },
    takesMs: 10 * MINUTE,
  },
  {
    cause: "missing-secret",
    says: /^Create the secret, or correct the name/,
    settings: { ...ofContainer, env: { HF_TOKEN: "{{ RUNPOD_SECRET_hf_token }}" } },
    prepare: soldOut({ pool: "ADA_24" }),
    async follow(emulated, id) {
      await emulated.run(emulated.client.secrets.create({ name: "hf_token", value: "value-of-play" }));
      await isGone(emulated, id, "missing-secret");
      emulated.emulator.faults.clear();
    },
  },
  {
    cause: "worker-quota",
    says: /^Lower workersMax of other endpoints/,
    settings: { workersMax: 2 },
    async prepare(emulated) {
      soldOut({ pool: "ADA_24" })(emulated);
      emulated.emulator.seed({
        endpoints: [{ id: "other1234567", name: "other", templateId: "t", gpuIds: "ADA_24", workersMax: 3 }],
      });
    },
    provoke: ({ emulator }) => emulator.setWorkerQuota(4),
    async follow(emulated, id) {
      await update({ workersMax: 2 })(emulated, "other1234567");
      await isGone(emulated, id, "worker-quota");
      emulated.emulator.faults.clear();
    },
  },
  {
    cause: "spend-limit",
    says: /raise the spend limit in the service's console/,
    prepare: ({ emulator }) => emulator.setSpendLimit(0),
    follow: ({ emulator }) => emulator.setSpendLimit(80),
  },
  {
    cause: "gpu-ids",
    says: /^Correct gpuIds\. In the project's folder, npx pulumi-serverless-gpu doctor compares it/,
    provoke: ({ emulator }, id) => emulator.endpoints.change(id, { gpuIds: "ADA_23" }),
    prepare: soldOut({ pool: "ADA_24" }),
    follow: update({ gpuIds: "AMPERE_80" }),
  },
  {
    cause: "cold-start",
    says: /^Wait\. To avoid cold starts, set workersMin to 1 or more/,
    emulator: { coldStartMs: 2 * MINUTE },
    follow: () => {},
    takesMs: 2 * MINUTE,
  },
  {
    cause: "volume-place",
    says: /add GPU pools that they have/,
    settings: { networkVolumeId: "v" },
    prepare(emulated) {
      emulated.emulator.seed({ volumes: [{ id: "v", name: "v", size: 10, dataCenterId: "EU-RO-1" }] });
      soldOut({ pool: "ADA_24", dataCenterId: "EU-RO-1" })(emulated);
    },
    follow: update({ gpuIds: "ADA_24,AMPERE_80" }),
  },
  {
    cause: "cuda-version",
    says: /^Lower minCudaVersion/,
    settings: { minCudaVersion: "12.8" },
    prepare: soldOut({ pool: "ADA_24", cudaVersion: "12.8" }),
    follow: update({ minCudaVersion: "12.4" }),
  },
  {
    cause: "no-stock",
    says: /^Add GPU pools to gpuIds/,
    prepare: soldOut({ pool: "ADA_24" }),
    follow: update({ gpuIds: "ADA_24,AMPERE_80" }),
  },
  {
    cause: "throttled",
    says: /^Wait a minute/,
    prepare: fault({ throttleWorkerMs: 2 * MINUTE }),
    follow: () => {},
    takesMs: 3 * MINUTE,
  },
  {
    cause: "workers-busy",
    says: /^Raise workersMax if the account's quota of workers has room/,
    emulator: slowJobs,
    async provoke({ client, run }, id) {
      await run(client.endpoint(id).run({ input: { prompt: "2 + 2" } }));
    },
    follow: update({ workersMax: 3 }),
    takesMs: 30 * MINUTE,
  },
  {
    cause: "image-pulling",
    says: /^Wait\./,
    prepare: fault({ imagePullMs: 5 * MINUTE }),
    follow: () => {},
    takesMs: 6 * MINUTE,
  },
];
