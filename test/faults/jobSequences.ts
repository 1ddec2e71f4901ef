import fc from "fast-check";
import { scaledClock } from "../../emulator";
import { type Client, createClient } from "../../sdk/client/client";
import type { EndpointQueue } from "../../sdk/client/queue";
import type { JobHandle } from "../../sdk/jobs/jobHandle";
import {
  type CountingService,
  FAULTS,
  type Network,
  OPERATIONS,
  startCountingService,
  type Task,
} from "./countingService";
import { type Outcome, problemsOf } from "./jobInvariants";

interface Submit {
  readonly afterMs: number;
  readonly kind: "run" | "runSync";
  readonly pieces: number;
  readonly fails: number;
  readonly idempotent: boolean;
}

/** An action on the job of the n-th `run`. `job` wraps around at the number of runs. */
interface JobAction {
  readonly afterMs: number;
  readonly kind: "wait" | "cancel" | "retry" | "status" | "stream";
  readonly job: number;
  /** For a stream, whether it continues after gaps. */
  readonly toldOfGaps?: boolean;
}

interface Purge {
  readonly afterMs: number;
  readonly kind: "purge";
}

interface Close {
  readonly afterMs: number;
  readonly kind: "close";
}

/** An action of a program. */
export type Action = Submit | JobAction | Purge | Close;

export interface Sequence {
  readonly actions: readonly Action[];
  readonly network: Network;
}

const afterMs = fc.nat(30);
const job = fc.nat(3);
const ACTIONS: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      afterMs,
      kind: fc.constantFrom("run", "run", "runSync"),
      pieces: fc.nat(4),
      fails: fc.nat(2),
      idempotent: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
    }),
  },
  { weight: 4, arbitrary: fc.record({ afterMs, kind: fc.constantFrom("wait", "cancel", "status"), job }) },
  { weight: 3, arbitrary: fc.record({ afterMs, kind: fc.constant("retry"), job }) },
  { weight: 4, arbitrary: fc.record({ afterMs, kind: fc.constant("stream"), job, toldOfGaps: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ afterMs, kind: fc.constant("purge") }) },
  { weight: 1, arbitrary: fc.record({ afterMs: fc.nat(200), kind: fc.constant("close") }) },
);

const faults = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constant("none" as const) },
    { weight: 4, arbitrary: fc.constantFrom(...FAULTS) },
  ),
  { maxLength: 6 },
);

/**
 * Generates programs of up to a dozen concurrent actions, each with its own network. The first
 * action always submits.
 */
export const SEQUENCES: fc.Arbitrary<Sequence> = fc.record({
  actions: fc
    .tuple(
      fc.record({
        afterMs,
        kind: fc.constant("run" as const),
        pieces: fc.nat(4),
        fails: fc.nat(2),
        idempotent: fc.constant(false),
      }),
      fc.array(ACTIONS, { maxLength: 12 }),
    )
    .map(([first, rest]) => [first, ...rest]),
  network: fc.record(Object.fromEntries(OPERATIONS.map((operation) => [operation, faults]))),
});

/** Time passes this much faster for the client. */
const SPEED = 100;

/** The client abandons a response that hangs after this time, in real milliseconds. */
const LONGEST_ATTEMPT_MS = 1_500;

/** No sequence takes longer, in milliseconds. */
const LONGEST_MS = 60_000;

/** Plays a sequence and returns the broken rules. */
export async function play({ actions, network }: Sequence): Promise<string[]> {
  await using service = await startCountingService(network);
  const client = createClient({
    apiKey: "a-key-of-the-campaign",
    queueUrl: service.url,
    clock: scaledClock(SPEED),
    attemptTimeoutMs: SPEED * LONGEST_ATTEMPT_MS,
    retry: { maxAttempts: 4, maxElapsedMs: SPEED * 4 * LONGEST_ATTEMPT_MS },
  });
  const queue = client.endpoint("abc");
  const handles: Promise<JobHandle | undefined>[] = [];
  const streamed = new Set<string>();
  const playing = actions.map((action, index) => {
    const tag = `submit-${index}`;
    const acting = pause(action.afterMs).then(() => {
      if (action.kind === "close") return closed(client);
      if (action.kind === "purge") return outcomeOf(action, tag, () => queue.purgeQueue().then(() => ({})));
      if ("job" in action) return onJob(action, tag, handles, streamed);
      return submit(action, tag, queue);
    });
    if (action.kind === "run") handles.push(acting.then((outcome) => outcome?.handle));
    return acting;
  });
  const outcomes = await within(Promise.all(playing), "the actions");
  if (typeof outcomes === "string") return [outcomes];
  const made = outcomes.filter((each) => each !== undefined);
  return [...(await afterClose(client, service)), ...problemsOf(made, service)];
}

async function closed(client: Client): Promise<undefined> {
  await client.close();
}

type Result = Pick<Outcome, "jobId" | "output" | "handle">;

async function outcomeOf(action: Action, tag: string, work: () => Promise<Result>): Promise<Outcome> {
  const startedAt = performance.now();
  try {
    const result = await work();
    return { action, tag, startedAt, endedAt: performance.now(), ...result };
  } catch (error) {
    return { action, tag, startedAt, endedAt: performance.now(), error };
  }
}

function submit(action: Submit, tag: string, queue: EndpointQueue): Promise<Outcome> {
  const { kind, pieces, fails, idempotent } = action;
  const input: Task = { tag, pieces, fails };
  return outcomeOf(action, tag, async () => {
    if (kind === "run") {
      const handle = await queue.run({ input }, { idempotent });
      return { jobId: handle.id, handle };
    }
    const { id, output } = await queue.runSync({ input }, { idempotent });
    return { jobId: id, output };
  });
}

async function onJob(
  action: JobAction,
  tag: string,
  handles: readonly Promise<JobHandle | undefined>[],
  streamed: Set<string>,
): Promise<Outcome | undefined> {
  const handle = await handles[action.job % handles.length];
  // A job has one reader.
  if (!handle || (action.kind === "stream" && streamed.has(handle.id))) return undefined;
  const jobId = handle.id;
  if (action.kind !== "stream") {
    const outcome = await outcomeOf(action, tag, async () => {
      if (action.kind === "wait") return { output: (await handle.wait()).output };
      if (action.kind === "cancel") await handle.cancel();
      if (action.kind === "status") await handle.status();
      if (action.kind === "retry") await handle.retry();
      return {};
    });
    return { ...outcome, jobId };
  }
  streamed.add(jobId);
  const pieces: unknown[] = [];
  let gaps = 0;
  const onGap = action.toldOfGaps ? () => gaps++ : undefined;
  const outcome = await outcomeOf(action, tag, async () => {
    for await (const { output } of handle.stream({ onGap })) pieces.push(output);
    return {};
  });
  return { ...outcome, jobId, pieces, gaps };
}

/** Everything ends: the client can be closed, and then sends nothing more. */
async function afterClose(client: Client, service: CountingService): Promise<string[]> {
  const late = await within(client.close(), "close()");
  if (typeof late === "string") return [late];
  const before = service.requests();
  await pause(30);
  return service.requests() > before ? ["requests were sent after close()"] : [];
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

async function within<T>(work: Promise<T>, what: string): Promise<T | string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`${what} did not end within ${LONGEST_MS} ms`), LONGEST_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Plays sequences from a seed. A failing one is shrunk, and shown with the broken rules. */
export async function playSequences(seed: number, count: number): Promise<void> {
  const property = fc.asyncProperty(SEQUENCES, async (sequence) => {
    const problems = await play(sequence);
    if (problems.length > 0) throw new Error(problems.join("\n"));
  });
  const endOnFailure = process.env.FIRST_FAILURE_ENDS !== undefined;
  await fc.assert(property, { seed, numRuns: count, endOnFailure });
}
