import fc from "fast-check";
import type { JournalEntry } from "../../../emulator";
import { manualClock } from "../../../emulator/time/virtualClock";
import { SharedList } from "../../../sdk/records/sharedList";
import { type Emulated, startEmulated } from "../../support/emulated";

/** The ids that the service had when a list was requested. */
interface Listed {
  readonly ids: readonly string[];
  readonly length: number;
}

/** A service with some records, whose responses take time. */
function slowService(ids: readonly string[], listMs: number) {
  const clock = manualClock(1_000_000);
  const existing = new Set(ids);
  let lists = 0;
  const wait = (ms: number) => new Promise<void>((resolve) => clock.schedule(ms, () => resolve()));
  const respond = async (found: readonly string[]): Promise<Listed> => {
    await wait(listMs);
    return { ids: found, length: found.length };
  };
  // The oldest possible response has the records from when the request was sent.
  const list = new SharedList<Listed>(clock, (_, onSend) => {
    onSend();
    lists++;
    return respond([...existing]);
  });
  return { clock, existing, list, wait, lists: () => lists };
}

/**
 * Deletes a record and proves that it is gone. Returns the time of the proof, and the age of its
 * list.
 */
async function deletion({ clock, existing, list, wait }: ReturnType<typeof slowService>, id: string, writeMs: number) {
  const leave = list.join();
  await list.read({ sentAfter: clock.monotonic() - 2_000, despiteWrites: true });
  await wait(writeMs);
  existing.delete(id);
  const acknowledgedAt = clock.monotonic();
  list.noteWrite();
  const proof = await list.read({ gathers: true });
  leave();
  return { id, acknowledgedAt, provenAt: clock.monotonic(), proof };
}

const LIST_MS = 40;

test("two operations that wait for different lists do not wait for each other", async () => {
  const clock = manualClock(1_000_000);
  const sent: Record<string, number> = {};
  const fetchAs = (name: string) => async (_: object, onSend: () => void) => {
    onSend();
    sent[name] = clock.monotonic();
    return {};
  };
  const list = new SharedList(clock, fetchAs("list"));
  const variables = new SharedList(clock, fetchAs("variables"), list.operations);
  const begunAt = clock.monotonic();
  const leave = [list.join(), list.join()];
  const reading = Promise.all([list.read({ gathers: true }), variables.read({ gathers: true })]);
  await clock.advance(1_000);
  await reading;
  for (const each of leave) each();
  expect([Number(sent.list) - begunAt, Number(sent.variables) - begunAt].map((ms) => ms < 100)).toEqual([true, true]);
});

test("a deletion is never proven by a list that was requested before the deletion was acknowledged, and waits at most half a second", async () => {
  const plans = fc.array(fc.record({ startMs: fc.nat(3_000), writeMs: fc.nat(600) }), { minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => {
      const service = slowService(
        plan.map((_each, index) => `id-${index}`),
        LIST_MS,
      );
      const all = plan.map(async ({ startMs, writeMs }, index) => {
        await service.wait(startMs);
        return deletion(service, `id-${index}`, writeMs);
      });
      await service.clock.advance(20_000);
      for (const { id, acknowledgedAt, provenAt, proof } of await Promise.all(all)) {
        expect(proof.sentAt).toBeGreaterThanOrEqual(acknowledgedAt);
        expect(proof.ids).not.toContain(id);
        // The time of the list in flight, of the gathering, and of the proof itself.
        expect(provenAt - acknowledgedAt).toBeLessThanOrEqual(LIST_MS + 500 + LIST_MS);
      }
    }),
    { numRuns: 150 },
  );
});

test("waves of eight deletions share the lists that prove them, regardless of how their responses are spread over time", async () => {
  const service = slowService(
    Array.from({ length: 80 }, (_, index) => `id-${index}`),
    LIST_MS,
  );
  let next = 0;
  // The engine starts a deletion whenever one ends, a moment later.
  const worker = async (place: number) => {
    await service.wait(place * 15);
    while (next < 80) {
      const index = next++;
      await deletion(service, `id-${index}`, 20 + ((index * 37) % 90));
    }
  };
  const done = Promise.all(Array.from({ length: 8 }, (_, place) => worker(place)));
  await service.clock.advance(60_000);
  await done;
  expect(service.existing.size).toBe(0);
  expect(service.lists()).toBeLessThanOrEqual(2 * 10);
});

test("the last of many deletions does not wait for further deletions", async () => {
  const ids = Array.from({ length: 12 }, (_, index) => `id-${index}`);
  const service = slowService(ids, LIST_MS);
  const tasks = ids.map((id, index) => async () => {
    const { acknowledgedAt, provenAt } = await deletion(service, id, 20);
    if (index >= 8) expect(provenAt - acknowledgedAt).toBeLessThanOrEqual(25 + LIST_MS);
  });
  const done = inParallel(tasks, 8);
  await service.clock.advance(2_000);
  await done;
  expect(service.existing.size).toBe(0);
});

test("a deletion does not wait for deletions that are pausing or have ended", async () => {
  const service = slowService(["a"], LIST_MS);
  const [, leave] = [service.list.join(), service.list.join()];
  const rested = service.list.rest(service.wait(10_000));
  const first = deletion(service, "a", 100);
  // Its list waits for an operation that neither pauses nor reads, until that ends.
  await service.clock.advance(LIST_MS + 100 + 50);
  leave();
  await service.clock.advance(25 + LIST_MS);
  const { acknowledgedAt, provenAt } = await first;
  expect(provenAt - acknowledgedAt).toBe(50 + 25 + LIST_MS);
  await service.clock.advance(10_000);
  await rested;

  // Then it counts again.
  service.list.join();
  const gathering = service.list.read({ gathers: true });
  await service.clock.advance(400);
  expect(service.lists()).toBe(2);
  await service.clock.advance(100 + LIST_MS);
  await gathering;
});

test("a single deletion does not wait, and neither do readers that do not share a list", async () => {
  const service = slowService(["a", "b"], LIST_MS);
  const alone = deletion(service, "a", 100);
  await service.clock.advance(LIST_MS + 100 + LIST_MS);
  const { acknowledgedAt, provenAt } = await alone;
  expect(provenAt - acknowledgedAt).toBe(LIST_MS);

  const leave = [service.list.join(), service.list.join()];
  const gathering = service.list.read({ gathers: true });
  await service.clock.advance(100);
  expect(service.lists()).toBe(2);
  const urgent = service.list.read({});
  await service.clock.advance(LIST_MS);
  expect(await urgent).toBe(await gathering);
  expect(service.lists()).toBe(3);
  for (const each of leave) each();
});

test("a shared list is not requested if all of its readers have given up, and the next reader does not wait for it", async () => {
  const service = slowService(["a"], LIST_MS);
  for (const _ of [1, 2]) service.list.join();
  const abort = new AbortController();
  const leaving = service.list.read({ gathers: true }, { signal: abort.signal });
  abort.abort(new Error("enough"));
  await expect(leaving).rejects.toThrow("enough");
  const next = service.list.read({});
  await service.clock.advance(LIST_MS);
  expect((await next).ids).toEqual(["a"]);
  expect(service.lists()).toBe(1);
});

/** Runs tasks as the engine does: a fixed number at once, and a new one as soon as one ends. */
async function inParallel(tasks: readonly (() => Promise<void>)[], width: number): Promise<void> {
  const queue = [...tasks];
  const worker = async () => {
    for (let task = queue.shift(); task; task = queue.shift()) await task();
  };
  await Promise.all(Array.from({ length: width }, worker));
}

const numberOf = ({ emulator }: Emulated, operation: string) => emulator.journal.requests({ operation }).length;

test("each deletion is proven by a list requested after it, and eight concurrent deletions share a few lists", async () => {
  const size = 24;
  await using account = await startEmulated();
  const { emulator, client } = account;
  const names = Array.from({ length: size }, (_, index) => `fleet-${index}`);
  for (const name of names) {
    emulator.templates.create({ id: `t-${name}`, name, imageName: "app:1", isServerless: true });
    emulator.endpoints.create({ id: `e-${name}`, name, gpuIds: "ADA_24", templateId: `t-${name}` });
  }
  /** Checks at the end of a deletion that a list was requested after it. */
  const expectProof = (isDeletion: (entry: JournalEntry) => boolean) => {
    const requests = emulator.journal.requests();
    const deleted = requests.findLastIndex(isDeletion);
    expect(deleted).toBeGreaterThanOrEqual(0);
    expect(requests.findLastIndex(({ operation }) => operation === "myself")).toBeGreaterThan(deleted);
  };
  await account.run(
    inParallel(
      names.map((name) => async () => {
        await client.endpoints.delete(`e-${name}`);
        expectProof(({ operation, endpointId }) => operation === "deleteEndpoint" && endpointId === `e-${name}`);
        await client.templates.delete(`t-${name}`);
        expectProof((entry) => entry.operation === "deleteTemplate" && entry.arguments.templateName === name);
      }),
      8,
    ),
  );
  expect(emulator.endpoints.list()).toEqual([]);
  expect(emulator.templates.list()).toEqual([]);
  expect(numberOf(account, "deleteEndpoint")).toBe(size);
  expect(numberOf(account, "deleteTemplate")).toBe(size);
  const waves = size / 8;
  expect(numberOf(account, "myself")).toBeLessThanOrEqual(6 * waves);
});
