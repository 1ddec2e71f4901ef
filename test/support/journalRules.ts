import { deepStrictEqual, ok, rejects } from "node:assert/strict";
import type { Journal, JournalBatch, JournalChange, JournalEntry, OpenJournal } from "../../sdk/journal/journal";
import { JournalRefusedError } from "../../sdk/journal/journalErrors";

/** A rule that every journal must follow. */
export interface JournalRule {
  /** What the rule requires, as a sentence. */
  readonly title: string;
  /** `true` if the rule needs two journals to be open at the same time. */
  readonly needsTwo: boolean;
  /**
   * Checks the rule against a store that does not contain the batch `rules`.
   * @param journal the journal, which may be opened several times in succession
   * @throws AssertionError
   */
  check(journal: Journal): Promise<void>;
}

const BATCH: JournalBatch = { batch: "rules", endpointId: "endpoint-1", keyVersion: "1" };

type Steps = (open: OpenJournal, journal: Journal) => Promise<void>;

const rule = (title: string, steps: Steps, needsTwo = false): JournalRule => ({
  title,
  needsTwo,
  async check(journal) {
    const open = await journal.open(BATCH);
    try {
      await steps(open, journal);
    } finally {
      await open.close();
    }
  },
});

const submitted = (key: string, owner: string, jobId: string): JournalChange => ({
  key,
  owner,
  jobId,
  state: "submitted",
  submittedAt: 1_700_000_000_000,
});

const named = (...keys: readonly string[]) => keys.map((key) => ({ key }));

async function one(open: OpenJournal, owner: string, key: string): Promise<JournalEntry | undefined> {
  return (await open.collect(owner, [key]))[0];
}

/** Returns the state and job id of a key. */
async function seen(open: OpenJournal, key: string): Promise<string> {
  const entry = await one(open, "a", key);
  return `${entry?.state} ${entry?.jobId}`;
}

/** Moves the key `k` to the state `submitted` with the job `j1`. */
async function submit(open: OpenJournal): Promise<void> {
  await open.claim("a", named("k"), []);
  await open.record("a", [submitted("k", "a", "j1")]);
}

/** The rules for journals. Each is checked with a new, empty store. */
export const journalRules: readonly JournalRule[] = [
  rule("claims each of many keys once, also if no response arrived", async (open) => {
    const keys = ["k1", "k2", "k3"];
    for (let time = 0; time < 2; time++) {
      const entries = (await open.claim("a", named(...keys), [])) ?? [];
      deepStrictEqual(entries.map(({ key }) => key).sort(), keys);
      ok(entries.every(({ state, owner, jobId }) => state === "claimed" && owner === "a" && jobId === undefined));
    }
  }),
  rule("keeps a job id, its time and its result", async (open) => {
    await submit(open);
    await open.record("a", [{ ...submitted("k", "a", "j1"), state: "settled", result: '{"output":"ä\\u0000"}' }]);
    const entry = await one(open, "a", "k");
    deepStrictEqual([entry?.state, entry?.jobId, entry?.submittedAt], ["settled", "j1", 1_700_000_000_000]);
    deepStrictEqual([entry?.isStored, await open.result("k")], [true, '{"output":"ä\\u0000"}']);
    deepStrictEqual(await open.result("other"), undefined);
  }),
  rule("gives no claim on a key that has a job", async (open) => {
    await submit(open);
    const [entry] = (await open.claim("a", named("k"), ["uncertain", "expired"])) ?? [];
    deepStrictEqual([entry?.state, entry?.jobId], ["submitted", "j1"]);
  }),
  rule("lets the state of a job only go forward", async (open) => {
    await submit(open);
    await open.record("a", [{ ...submitted("k", "a", "j1"), state: "delivered" }]);
    await open.record("a", [{ ...submitted("k", "a", "j1"), state: "settled" }]);
    deepStrictEqual(await seen(open, "k"), "delivered j1");
  }),
  rule("ignores changes about another job, and about unknown keys", async (open) => {
    await submit(open);
    await open.record("a", [{ ...submitted("k", "a", "j2"), state: "delivered" }, submitted("unknown", "a", "j3")]);
    deepStrictEqual(await seen(open, "k"), "submitted j1");
    deepStrictEqual(await open.collect("a", ["unknown"]), []);
  }),
  rule("makes a released key free", async (open) => {
    await open.claim("a", named("k"), []);
    await open.record("a", [{ key: "k", owner: "a", state: "released" }]);
    deepStrictEqual((await open.claim("b", named("k"), []))?.[0]?.owner, "b");
  }),
  rule("releases only the claim of the owner, and no key with a job", async (open) => {
    await open.claim("a", named("k"), []);
    await open.record("b", [{ key: "k", owner: "b", state: "released" }]);
    deepStrictEqual(await seen(open, "k"), "claimed undefined");
    await open.record("a", [submitted("k", "a", "j1")]);
    await open.record("a", [{ key: "k", owner: "a", state: "released" }]);
    deepStrictEqual(await seen(open, "k"), "submitted j1");
  }),
  rule("does not claim an uncertain key again unless it is asked to", async (open) => {
    await open.claim("a", named("k"), []);
    await open.record("a", [{ key: "k", owner: "a", state: "uncertain" }]);
    deepStrictEqual((await open.claim("a", named("k"), ["expired"]))?.[0]?.state, "uncertain");
    deepStrictEqual((await open.claim("a", named("k"), ["uncertain"]))?.[0]?.state, "claimed");
  }),
  rule("keeps the hash of an input, and why its key is uncertain", async (open) => {
    await open.claim("a", [{ key: "k", hash: "h" }], []);
    await open.record("a", [{ key: "k", owner: "a", state: "uncertain", reason: "no response" }]);
    const entry = await one(open, "a", "k");
    deepStrictEqual([entry?.hash, entry?.reason], ["h", "no response"]);
    await open.record("a", [submitted("k", "a", "j1")]);
    deepStrictEqual((await one(open, "a", "k"))?.hash, "h");
  }),
  rule("keeps that a job failed, and submits its input again only for a later owner that asks for it", async (open) => {
    await submit(open);
    await open.record("a", [{ ...submitted("k", "a", "j1"), state: "failed", result: "{}" }]);
    await open.record("a", [{ ...submitted("k", "a", "j1"), state: "delivered" }]);
    deepStrictEqual((await open.claim("a", named("k"), ["failed"]))?.[0]?.state, "failed");
    await open.record("a", [], true);
    deepStrictEqual((await open.claim("b", named("k"), ["expired"]))?.[0]?.state, "failed");
    const [entry] = (await open.claim("b", named("k"), ["failed"])) ?? [];
    deepStrictEqual([entry?.state, entry?.jobId, entry?.isStored || undefined], ["claimed", undefined, undefined]);
  }),
  rule("records a job id that arrives after its claim became uncertain", async (open) => {
    await open.claim("a", named("k"), []);
    await open.record("a", [{ key: "k", owner: "a", state: "uncertain" }]);
    await open.record("a", [submitted("k", "a", "late")]);
    deepStrictEqual(await seen(open, "k"), "submitted late");
  }),
  rule("replaces a job id that was given without a time, until the job has ended", async (open) => {
    const given = (jobId: string): JournalChange => ({ key: "k", owner: "b", jobId, state: "submitted" });
    await open.claim("a", named("k"), []);
    await open.record("b", [given("wrong")]);
    await open.record("b", [given("right")]);
    deepStrictEqual(await seen(open, "k"), "submitted right");
    await open.record("b", [{ ...given("right"), state: "settled" }]);
    await open.record("b", [given("other")]);
    deepStrictEqual(await seen(open, "k"), "settled right");
  }),
  rule("finds the keys of jobs", async (open) => {
    await open.claim("a", named("k", "l", "m"), []);
    await open.record("a", [submitted("k", "a", "j1"), submitted("l", "a", "j2")]);
    await open.record("a", [{ ...submitted("k", "a", "j1"), state: "delivered" }]);
    const found = await open.withJobs(["j1", "j2", "j3"]);
    deepStrictEqual(found.map(({ key, jobId }) => `${key} ${jobId}`).sort(), ["k j1", "l j2"]);
  }),
  rule("finds the keys whose job has no final state", async (open) => {
    await open.claim("a", named("c", "u", "s", "e", "d", "f"), []);
    const given = ["s", "e", "d", "f"].map((key) => submitted(key, "a", `job ${key}`));
    await open.record("a", [...given, { key: "u", owner: "a", state: "uncertain" }]);
    const ends = ["settled", "delivered", "failed"] as const;
    await open.record(
      "a",
      ends.map((state, n) => ({ ...submitted(["e", "d", "f"][n] ?? "", "a", `job ${["e", "d", "f"][n]}`), state })),
    );
    deepStrictEqual((await open.underWay()).map(({ key, state }) => `${key} ${state}`).sort(), [
      "e settled",
      "s submitted",
    ]);
  }),
  rule("does not claim an expired key again unless it is asked to, and then without its job", async (open) => {
    await submit(open);
    await open.record("a", [{ key: "k", owner: "a", state: "expired", jobId: "other" }]);
    deepStrictEqual(await seen(open, "k"), "submitted j1");
    await open.record("a", [{ key: "k", owner: "a", state: "expired", jobId: "j1" }]);
    deepStrictEqual((await open.claim("a", named("k"), ["uncertain"]))?.[0]?.state, "expired");
    const [entry] = (await open.claim("a", named("k"), ["expired"])) ?? [];
    deepStrictEqual([entry?.state, entry?.jobId], ["claimed", undefined]);
  }),
  rule(
    "remembers everything after it was closed, and gives another owner what the first one left",
    async (open, journal) => {
      await open.claim("a", named("claimed", "submitted", "delivered"), []);
      await open.record("a", [
        submitted("submitted", "a", "j1"),
        { ...submitted("delivered", "a", "j2"), state: "delivered" },
      ]);
      await open.record("a", [], true);
      await open.close();
      const again = await journal.open(BATCH);
      const entries = (await again.claim("b", named("claimed", "submitted", "delivered"), [])) ?? [];
      const found = Object.fromEntries(entries.map(({ key, state, owner }) => [key, `${state} ${owner}`]));
      deepStrictEqual(found, { claimed: "uncertain a", submitted: "submitted b", delivered: "delivered a" });
      await again.close();
    },
  ),
  rule("refuses another endpoint and another key version", async (open, journal) => {
    await open.close();
    const refused = (error: unknown) => error instanceof JournalRefusedError;
    await rejects(journal.open({ ...BATCH, endpointId: "endpoint-2" }), refused);
    await rejects(journal.open({ ...BATCH, keyVersion: "2" }), refused);
  }),
  rule(
    "gives a key to one of many owners that claim it at the same time",
    async (open, journal) => {
      const others = await Promise.all(Array.from({ length: 7 }, () => journal.open(BATCH)));
      const keys = Array.from({ length: 40 }, (_, n) => `k${n}`);
      const claims = await Promise.all(
        [open, ...others].map((each, n) =>
          each.claim(`owner ${n}`, named(...(n % 2 ? keys : [...keys].reverse())), []),
        ),
      );
      const winners = claims.map((entries = [], n) =>
        entries.filter(({ state, owner }) => state === "claimed" && owner === `owner ${n}`),
      );
      deepStrictEqual(
        winners
          .flat()
          .map(({ key }) => key)
          .sort(),
        [...keys].sort(),
      );
      await Promise.all(others.map((each) => each.close()));
    },
    true,
  ),
  rule(
    "leaves the keys of a living owner alone, and changes nothing for an owner whose lease has ended",
    async (open) => {
      await open.claim("a", named("k"), []);
      deepStrictEqual((await open.claim("b", named("k"), ["uncertain"]))?.[0]?.owner, "a");
      deepStrictEqual((await one(open, "b", "k"))?.state, "claimed");
      await open.record("a", [], true);
      deepStrictEqual(await open.claim("a", named("other"), []), undefined);
      deepStrictEqual((await one(open, "b", "k"))?.state, "uncertain");
      deepStrictEqual(await open.record("a", [submitted("k", "a", "late")]), false);
      deepStrictEqual((await one(open, "b", "k"))?.jobId, "late");
    },
    true,
  ),
];
