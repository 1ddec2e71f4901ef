import fc from "fast-check";
import { createBatch } from "../../../sdk/batches/batch";
import type { Clock } from "../../../sdk/contract/clock";
import { ServiceFaultError } from "../../../sdk/errors/errors";
import { SubmitUncertainError } from "../../../sdk/jobs/jobErrors";
import type { JobHandle } from "../../../sdk/jobs/jobHandle";
import type { Journal } from "../../../sdk/journal/journal";
import { journalRules } from "../../support/journalRules";
import { type MemoryJournal, memoryJournal } from "../../support/memoryJournal";

const LEASE_MS = 10_000;
const KEYS = ["a", "b", "c", "d", "e", "f"];
const IDENTITY = { batch: "b", endpointId: "e", keyVersion: "1" };

/** A clock that only `tick` moves. */
function createClock() {
  let time = 0;
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  const clock: Clock = {
    now: () => time,
    monotonic: () => time,
    schedule(delayMs, callback) {
      const timer = { at: time + delayMs, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
  const tick = (ms: number) => {
    time += ms;
    for (const timer of [...timers].sort((a, b) => a.at - b.at)) {
      if (timer.at <= time && timers.delete(timer)) timer.callback();
    }
  };
  return { clock, tick };
}

/**
 * What one process does: after how many steps it is killed, and which of its calls get no answer.
 */
interface Fate {
  readonly killedAfter: number | undefined;
  readonly lost: readonly number[];
}

const fate = fc.record({
  killedAfter: fc.option(fc.nat(40), { nil: undefined }),
  lost: fc.uniqueArray(fc.nat(30), { maxLength: 3 }),
});

/** The service: how often each key was submitted, and its jobs. */
function createService() {
  const submits = new Map<string, number>();
  return {
    submits,
    /** The state of a key in the journal right before each of its submits. */
    statesBefore: [] as (string | undefined)[],
    submit(key: string) {
      submits.set(key, (submits.get(key) ?? 0) + 1);
      return `job of ${key}`;
    },
  };
}

type Service = ReturnType<typeof createService>;

/** Makes each call of a process wait for the scheduler, before its effect and before its answer. */
function createProcess(s: fc.Scheduler, { killedAfter = Number.POSITIVE_INFINITY, lost }: Fate) {
  const state = { steps: 0, calls: 0, isKilled: false };
  async function hop(): Promise<void> {
    if (!state.isKilled) await s.schedule(Promise.resolve());
    if (++state.steps > killedAfter) state.isKilled = true;
    if (state.isKilled) await new Promise(() => {});
  }
  async function call<T>(effect: () => T | Promise<T>): Promise<T> {
    const isLost = lost.includes(state.calls++);
    await hop();
    const result = await effect();
    await hop();
    if (isLost) throw new ServiceFaultError("no response arrived");
    return result;
  }
  return { state, call };
}

function journalOf(inner: Journal, call: <T>(effect: () => Promise<T>) => Promise<T>): Journal {
  return {
    async open(batch) {
      const open = await inner.open(batch);
      return {
        ...open,
        claim: (...args) => call(() => open.claim(...args)),
        collect: (...args) => call(() => open.collect(...args)),
        record: (...args) => call(() => open.record(...args)),
      };
    },
  };
}

function startProcess(
  s: fc.Scheduler,
  { clock, journal, service }: { readonly clock: Clock; readonly journal: MemoryJournal; readonly service: Service },
  given: Fate,
) {
  const { state, call } = createProcess(s, given);
  const handle = (id: string) => ({ id, wait: () => call(() => ({ id, status: "COMPLETED", output: id })) });
  /** A wait whose response is lost is repeated by the poller. */
  const patient = (id: string) => {
    const { wait } = handle(id);
    const repeated = (): Promise<unknown> => wait().catch(repeated);
    return { id, wait: repeated } as unknown as JobHandle<unknown>;
  };
  const batch = createBatch<{ key: string }, unknown>(
    () => Promise.reject(new Error("not used")),
    KEYS.map((key) => ({ key })),
    { concurrency: 3 },
    {
      identity: IDENTITY,
      again: [],
      stores: false,
      redeliver: undefined,
      request: undefined,
      schema: undefined,
      clock,
      log: undefined,
      journal: journalOf(journal, call),
      readEndpoint: () => Promise.resolve(),
      keyOf: (input) => (input as { key: string }).key,
      async start(request, _signal, beforeSend) {
        await call(() => {}).catch(() => {});
        beforeSend();
        const { key } = request.input as { key: string };
        service.statesBefore.push(journal.entries.get(key)?.state);
        const id = await call(() => service.submit(key)).catch((cause: unknown) => {
          throw new SubmitUncertainError("lost", { cause });
        });
        return patient(id);
      },
      resume: patient,
    },
  );
  const delivered: string[] = [];
  const uncertain: string[] = [];
  const done = (async () => {
    for await (const { input, error } of batch) {
      if (error instanceof SubmitUncertainError) uncertain.push(input.key);
      else if (error) throw error;
      else delivered.push(input.key);
    }
  })();
  return { state, done, delivered, uncertain, batch };
}

/**
 * Lets time pass and steps happen in the scheduler's order until all processes end or are killed.
 */
async function play(
  s: fc.Scheduler,
  tick: (ms: number) => void,
  ticks: readonly number[],
  processes: readonly ReturnType<typeof startProcess>[],
): Promise<void> {
  const ended = new Set<object>();
  for (const each of processes) {
    each.done.then(
      () => ended.add(each),
      () => ended.add(each),
    );
  }
  for (let step = 0; step < 20_000; step++) {
    for (let n = 0; n < 12; n++) await Promise.resolve();
    if (processes.every((each) => ended.has(each) || each.state.isKilled)) return;
    if (s.count() > 0) {
      tick(ticks[step] ?? 0);
      await s.waitOne();
    } else tick(1_000);
  }
  throw new Error("the processes do not end");
}

// Short ones, and some beyond the lease: a process whose steps wait meanwhile is paused.
const ticks = fc.array(fc.oneof(fc.nat(500), fc.constant(0), fc.nat(2 * LEASE_MS)), { maxLength: 200 });

test("no interleaving of three processes submits a key twice or loses a key", async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(fate, { minLength: 3, maxLength: 3 }), ticks, async (s, fates, given) => {
      const { clock, tick } = createClock();
      const service = createService();
      const journal = memoryJournal(clock.now, LEASE_MS);
      const parts = { clock, journal, service };
      const processes = fates.map((each) => startProcess(s, parts, each));
      await play(s, tick, given, processes);
      tick(2 * LEASE_MS);
      const last = startProcess(s, parts, { killedAfter: undefined, lost: [] });
      await play(s, tick, [], [last]);
      await last.done;
      expect([...service.submits.values()].filter((count) => count > 1)).toEqual([]);
      // Whatever others call uncertain, its first owner does not submit after its lease has ended.
      expect(service.statesBefore.filter((state) => state !== "claimed")).toEqual([]);
      const delivered = new Set([...processes, last].flatMap((each) => each.delivered));
      const open = KEYS.filter((key) => !delivered.has(key));
      // A process that was killed may have taken a result and recorded it without having shown it.
      expect(open.filter((key) => !last.uncertain.includes(key))).toEqual([]);
      for (const key of KEYS) {
        const entry = journal.entries.get(key);
        expect(last.uncertain.includes(key)).toBe(entry?.state === "uncertain");
        expect(entry?.state === "delivered").toBe(delivered.has(key));
      }
      const kills = processes.filter(({ state }) => state.isKilled).length;
      const lost = fates.reduce((sum, each) => sum + each.lost.length, 0);
      expect(last.uncertain.length).toBeLessThanOrEqual(3 * kills + lost);
    }),
    { numRuns: Number(process.env.JOURNAL_RUNS ?? 150) },
  );
});

test.each(journalRules)("the journal used in this test: $title", ({ check }) =>
  check(memoryJournal(() => 0, LEASE_MS)));
