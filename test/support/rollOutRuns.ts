import { setTimeout as sleep } from "node:timers/promises";
import type { Emulator } from "../../emulator";
import { createClient } from "../../sdk";
import { ended, start as startCommand } from "../cli/command";
import { type Remembered, StepFailed, up } from "../faults/engineMemory";
import { newMachine, programOf, startProvider, startService, TOKEN } from "./rollOuts";

type Provider = Awaited<ReturnType<typeof startProvider>>;

/** An endpoint with a good release, and the provider of the machine that made it. */
export async function start(api = "v2") {
  const emulator = await startService();
  const machine = newMachine();
  const provider = await startProvider(emulator, machine, api);
  const first = await up(provider, programOf("good"), undefined);
  return {
    emulator,
    machine,
    provider,
    first,
    async [Symbol.asyncDispose]() {
      await provider.stop();
      await emulator.stop();
    },
  };
}

/** Runs `up`, which must fail. */
export async function failedUp(
  provider: Provider,
  program: object,
  before: Remembered | undefined,
): Promise<StepFailed> {
  const error = await up(provider, { ...program }, before).then(
    () => undefined,
    (failure: unknown) => failure,
  );
  if (!(error instanceof StepFailed)) throw new Error(`it did not fail: ${error}`);
  expect(error.message).not.toContain(TOKEN);
  return error;
}

/** Runs `up`, which must fail, and sets another image in the console while the test runs. */
export async function failedUpWithEdit(
  { emulator, first }: Run,
  provider: Provider,
  program: ReturnType<typeof programOf>,
  before: Remembered | undefined,
): Promise<StepFailed> {
  await using console = consoleOf(emulator);
  // Loads the client's code before the time counts.
  await console.endpoints.get(first.id);
  emulator.faults.add({ match: { operation: "status-sync", nth: 1 }, effect: { latencyMs: 5_000 } });
  const { rollOut } = program;
  const test = { ...rollOut.test, timeout: 60 };
  let isOver = false;
  const running = failedUp(provider, { ...program, rollOut: { ...rollOut, test } }, before).finally(() => {
    isOver = true;
  });
  const isHeld = () => emulator.journal.requests({ outcome: "pending", operation: "status-sync" }).length > 0;
  while (!isHeld() && !isOver) await sleep(20);
  await console.endpoints.update(first.id, { imageName: "me/theirs-good" });
  return running;
}

/** The release that the endpoint has at first. */
export const previous = { image: "me/llama-good", env: { HF_TOKEN: TOKEN, VERSION: "good" } };

/** A request at which the process is killed, before or after the request takes effect. */
export type Moment = [name: string, operation: string, nth: number, when: "before" | "after"];
export const AFTER_THE_SAVE: Moment = ["the save, after it", "updateEndpoint", 1, "after"];

/** Kills an `up` at a request. */
export async function killAt(
  emulator: Emulator,
  provider: Provider,
  moment: Moment,
  before: Remembered | undefined,
  program: object = programOf("wrong"),
) {
  const [, operation, nth, when] = moment;
  emulator.faults.add({ match: { operation, nth }, effect: { hang: true, when } });
  const running = failedUp(provider, program, before);
  const isHeld = () => emulator.journal.requests({ outcome: "pending" }).some(({ fault }) => fault?.includes("hang"));
  while (!isHeld()) await sleep(20);
  await provider.stop();
  await running;
  emulator.faults.clear();
}

export type Run = Awaited<ReturnType<typeof start>>;

/** Runs the command that reverts what an unfinished adoption changed. */
export async function rollBack({ emulator, machine, first }: Run, api = "v2") {
  const { env } = process;
  process.env = { ...env, ...emulator.env, SERVERLESS_GPU_SERVICE: "runpod", XDG_CACHE_HOME: machine };
  try {
    return await ended(startCommand("rollback", first.id, "--left", "--yes", "--api", api));
  } finally {
    process.env = env;
  }
}

/** The largest number of the endpoint's workers. */
export const maximumOf = ({ emulator, first }: Run) => emulator.endpoints.get(first.id)?.workersMax;

/** Sets another image of the endpoint in the console. */
export async function editImage({ emulator, first }: Run, imageName: string): Promise<void> {
  await using console = consoleOf(emulator);
  await console.endpoints.update(first.id, { imageName });
}

const consoleOf = ({ url, apiKey }: Emulator) =>
  createClient({ graphqlUrl: url, queueUrl: url, service: "runpod", apiKey, api: "v2" });
