import type { EmulatorOptions } from "../../../emulator";
import { createClient } from "../../../sdk";
import type { CauseId } from "../../../sdk/diagnosis/causes";
import type { DiagnoseOptions } from "../../../sdk/diagnosis/record";
import { CANARY, type Emulated, startEmulated } from "../../support/emulated";
import { startLoadBalanced } from "../../support/loadBalanced";

// Follows advice after which no other setting of the endpoint is needed: another id, key or rule,
// a wait, or a job that is cancelled.

const MINUTE = 60_000;
const SETTINGS = { name: "llama", imageName: "me/app:1", gpuIds: "ADA_24", workersMax: 1 };
const slow: EmulatorOptions = {
  profile: "observed",
  rateLimits: { management: "off", graphql: "off" },
  handlers: {
    default: async (_, { sleep }) => {
      await sleep(5 * MINUTE);
      return { text: "4" };
    },
  },
};
const start = (emulator: EmulatorOptions = slow) =>
  startEmulated({ emulator, client: { api: "v2", service: "runpod" } });

/** Expects a cause with this advice. */
async function expectAdvice(
  { client, run }: Emulated,
  id: string,
  cause: CauseId,
  says: RegExp,
  options: DiagnoseOptions = {},
) {
  const { causes } = await run(client.endpoints.diagnose(id, options));
  expect([cause, causes.find((each) => each.id === cause)?.advice]).toEqual([cause, expect.stringMatching(says)]);
}

async function expectNot({ client, run }: Emulated, id: string, cause: CauseId, options: DiagnoseOptions = {}) {
  const { causes, others } = await run(client.endpoints.diagnose(id, options));
  expect([...causes, ...others].map((each) => each.id)).not.toContain(cause);
}

const submit = ({ client, run }: Emulated, id: string) => run(client.endpoint(id).run({ input: { prompt: "2 + 2" } }));

test("an id that is checked and corrected is found", async () => {
  await using emulated = await start();
  const { id } = await emulated.run(emulated.client.endpoints.create(SETTINGS));
  await expectAdvice(emulated, `${id}x`, "not-found", /^Check its id, the service's URL and the key's account\./);
  await expectNot(emulated, id, "not-found");
});

test("a key that is checked and corrected is accepted", async () => {
  await using emulated = await start();
  const { emulator, run, clock } = emulated;
  const { id } = await run(emulated.client.endpoints.create(SETTINGS));
  const { url } = emulator;
  const client = createClient({ apiKey: "mistyped", graphqlUrl: url, restUrl: url, queueUrl: url, api: "v2", clock });
  const mistyped = { ...emulated, client };
  await expectAdvice(mistyped, id, "no-access", /^Check the key, its permissions and its account$/);
  await client.close();
  await expectNot(emulated, id, "no-access");
  expect(CANARY).not.toBe("mistyped");
});

test("a lower scalerValue starts another worker", async () => {
  await using emulated = await start();
  const { client, run, clock, emulator } = emulated;
  const rule = { scalerType: "REQUEST_COUNT", scalerValue: 10, workersMax: 3 } as const;
  const { id } = await run(client.endpoints.create({ ...SETTINGS, ...rule }));
  await submit(emulated, id);
  await submit(emulated, id);
  await clock.advance(MINUTE);
  await expectAdvice(emulated, id, "scaling-rule", /^Wait, or lower scalerValue$/);
  await run(client.endpoints.update(id, { scalerValue: 1 }));
  await clock.advance(MINUTE);
  await expectNot(emulated, id, "scaling-rule");
  expect(emulator.endpoints.get(id)).toMatchObject({ scalerValue: 1, workersMax: 3 });
  const { jobs } = await run(client.endpoint(id).health());
  expect(jobs).toMatchObject({ inQueue: 0, inProgress: 2 });
});

test("a rollout is over once the wait has lasted until no worker is stale", async () => {
  await using emulated = await start();
  const { client, run, clock } = emulated;
  const { id } = await run(client.endpoints.create(SETTINGS));
  await submit(emulated, id);
  await clock.advance(MINUTE);
  await run(client.endpoints.update(id, { imageName: "me/app:2" }));
  const { id: waiting } = await submit(emulated, id);
  await clock.advance(1000);
  await expectAdvice(emulated, id, "rollout", /^Wait until no worker is stale\./);
  await clock.advance(15 * MINUTE);
  await expectNot(emulated, id, "rollout");
  expect(await run(client.endpoint(id).status(waiting))).toMatchObject({ status: "COMPLETED" });
});

test("a stop no longer waits for a job that was cancelled", async () => {
  await using emulated = await start();
  const { client, run, clock } = emulated;
  const { id } = await run(client.endpoints.create(SETTINGS));
  const job = await submit(emulated, id);
  await clock.advance(MINUTE);
  await expectAdvice(emulated, id, "jobs-running", /^Wait, cancel the jobs, or allow more time/, { awaited: "stop" });
  await run(job.cancel());
  await clock.advance(1000);
  await expectNot(emulated, id, "jobs-running", { awaited: "stop" });
});

test("the error of a failed job is read as advised, and says why jobs fail", async () => {
  const handlers: EmulatorOptions["handlers"] = {
    default: () => {
      throw new Error("the model lacks a file");
    },
  };
  await using emulated = await start({ ...slow, handlers });
  const { client, run, clock } = emulated;
  const { id } = await run(client.endpoints.create(SETTINGS));
  const { id: job } = await submit(emulated, id);
  await clock.advance(5 * MINUTE);
  await expectAdvice(emulated, id, "jobs-failing", /^Read the error of a failed job\./);
  const failed = await run(client.endpoint(id).status(job));
  expect([failed.status, JSON.stringify(failed)]).toEqual(["FAILED", expect.stringContaining("lacks a file")]);
});

test("the workers of a load-balancing endpoint are called with fetch", async () => {
  await using balanced = await startLoadBalanced({ client: { api: "v2" } });
  const { client, id, endpoint } = balanced;
  const { causes } = await client.endpoints.diagnose(id);
  expect(causes).toMatchObject([{ id: "no-queue", advice: expect.stringMatching(/^Call its workers with fetch, or/) }]);
  const response = await endpoint.fetch("/ping");
  expect(response.status).toBeLessThan(400);
});
