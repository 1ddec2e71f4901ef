import { randomUUID } from "node:crypto";
import { type Clock, sleep } from "../contract/clock";
import type { ServerlessGpuError } from "../errors/errors";
import type { AgainState, JournalChange, JournalEntry, JournalKey, OpenJournal } from "../journal/journal";
import { JournalUnavailableError, journalFailed } from "../journal/journalErrors";
import type { Log } from "../transport/observers";
import { inTime, isLasting, known } from "./journalCalls";

/**
 * The right of this process to submit the keys it has claimed. A lease that has ended never becomes
 * valid again. If this process was paused for too long, other processes report its keys as
 * uncertain, so it must not submit them.
 */
export interface Lease {
  readonly owner: string;
  isValid(): boolean;
}

/** The recorded facts about a key, and the lease with which this process claimed it. */
export interface Claim {
  readonly entry: JournalEntry;
  readonly lease: Lease;
}

/**
 * Groups the claims and changes of a batch into fewer calls, and survives short failures of the
 * journal.
 */
export interface Ledger {
  /** Returns `true` if the owner is or was an owner of this batch. */
  isOwn(owner: string): boolean;
  /** Returns the owner for new changes. */
  owner(): string;
  /**
   * Claims a key as soon as a submit slot is free.
   * @throws JournalUnavailableError if the journal has failed for too long
   */
  claim(key: JournalKey): Promise<Claim>;
  /** Must be called once per successful claim, after the outcome of its submit was recorded. */
  answered(): void;
  /**
   * Stops claiming keys for `ms` milliseconds. Returns `true` if it was claiming keys until now.
   */
  rest(ms: number): boolean;
  /** Rejects all pending and later claims. */
  drain(reason: unknown): void;
  /** Shortens the time for which the journal may keep failing. */
  stop(): void;
  /** Reads the entries of keys. */
  collect(keys: readonly string[]): Promise<readonly Claim[]>;
  /** Reads the stored outcome of a key's job. */
  result(key: string): Promise<string | undefined>;
  /**
   * Records a change. Resolves when the change is durable.
   * @throws JournalUnavailableError
   */
  record(change: JournalChange): Promise<void>;
  /**
   * Records all pending changes, ends the lease, and closes the journal.
   * @throws JournalUnavailableError if the journal has failed
   */
  close(): Promise<void>;
}

/** The dependencies of a ledger. */
interface LedgerContext {
  readonly journal: OpenJournal;
  readonly clock: Clock;
  readonly log: Log;
  /** The states in which a key is claimed again. */
  readonly again: readonly AgainState[];
}

/**
 * The maximum number of claims whose submit has no outcome yet. If the process is killed, at most
 * this many keys are uncertain. This number is enough to reach the limit of `/run` (100 a second)
 * if responses take half a second.
 */
export const SUBMIT_SLOTS = 50;

/** How long the journal may keep failing before the batch ends, in milliseconds. */
const LONGEST_OUTAGE_MS = 120_000;

/** The same limit after the batch was stopped, so that a second Ctrl-C has an effect. */
const LAST_OUTAGE_MS = 10_000;

/** The maximum number of changes to record at once, and of the characters of their results. */
const MOST_CHANGES = 1_000;
const MOST_CHARACTERS = 2 ** 23;

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

interface Waiting<T> {
  readonly key: JournalKey;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

interface Pending {
  change: JournalChange;
  readonly resolve: (() => void)[];
  readonly reject: ((error: unknown) => void)[];
}

interface OwnLease extends Lease {
  hasEnded(): boolean;
  /** Returns `false` if the lease had ended before the store's response arrived. */
  renewed(askedAt: number): boolean;
}

export function createLedger(context: LedgerContext): Ledger {
  const { journal, clock } = context;
  const owners = new Set<string>();
  const claims: Waiting<Claim>[] = [];
  let pending = new Map<string, Pending>();
  let lease = newLease();
  let unanswered = 0;
  let isClaiming = false;
  let flushing: Promise<void> | undefined;
  let failure: ServerlessGpuError | undefined;
  let refusal: { readonly reason: unknown } | undefined;
  let isStopped = false;
  let isClosed = false;
  let restsUntil = Number.NEGATIVE_INFINITY;
  let cancelRest = () => {};
  let cancelHeartbeat = () => {};
  beat();

  function newLease(): OwnLease {
    const owner = randomUUID();
    owners.add(owner);
    let until: number | undefined;
    const hasEnded = () => until !== undefined && clock.monotonic() >= until;
    return {
      owner,
      hasEnded,
      isValid: () => !hasEnded() && (journal.isHeld?.() ?? true),
      renewed(askedAt) {
        const wasValid = !hasEnded() && clock.monotonic() < askedAt + journal.leaseMs;
        // Count from the time before the request, so that the lease ends here before it ends in the
        // store.
        if (wasValid) until = askedAt + journal.leaseMs;
        return wasValid;
      },
    };
  }

  function replace(ended: OwnLease): void {
    if (lease === ended) lease = newLease();
  }

  /** Repeats a step until it succeeds, or until the journal has failed for too long. */
  async function persist<T>(step: () => Promise<T>): Promise<T> {
    const since = clock.monotonic();
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs)) {
      if (failure) throw failure;
      try {
        return await inTime(clock, step());
      } catch (error) {
        if (pauseMs === FIRST_PAUSE_MS) {
          context.log?.("warn", "the journal failed. Nothing is submitted until it works again", { error });
        }
        const outageMs = clock.monotonic() - since;
        if (isLasting(error) || outageMs > (isStopped ? LAST_OUTAGE_MS : LONGEST_OUTAGE_MS)) throw fail(error);
        await sleep(clock, pauseMs);
      }
    }
  }

  function fail(cause: unknown): ServerlessGpuError {
    if (failure) return failure;
    const unrecorded = [...pending.values()].flatMap(({ change: { key, jobId, submittedAt } }) =>
      jobId !== undefined && submittedAt !== undefined ? [{ key, jobId }] : [],
    );
    failure = journalFailed(cause, unrecorded);
    for (const { reject } of claims.splice(0)) reject(failure);
    for (const { reject } of pending.values()) for (const each of reject) each(failure);
    pending = new Map();
    return failure;
  }

  async function claimAll(): Promise<void> {
    if (isClaiming) return;
    isClaiming = true;
    while (claims.length > 0 && unanswered < SUBMIT_SLOTS && clock.monotonic() >= restsUntil) {
      const group = claims.splice(0, SUBMIT_SLOTS - unanswered);
      try {
        const found = await claimGroup(group.map(({ key }) => key));
        for (const { key, resolve, reject } of group) {
          const claim = found.get(key.key);
          if (claim?.entry.state === "claimed" && claim.entry.owner === claim.lease.owner) unanswered++;
          if (claim) resolve(claim);
          else reject(new JournalUnavailableError(`the journal has lost the key ${JSON.stringify(key.key)}`));
        }
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    isClaiming = false;
  }

  async function claimGroup(keys: readonly JournalKey[]): Promise<Map<string, Claim>> {
    /** The owners whose claims may have succeeded although nothing was submitted for them. */
    const ended = new Set<string>();
    return await persist(async () => {
      const used = lease;
      if (used.hasEnded()) {
        ended.add(used.owner);
        replace(used);
      }
      for (const owner of ended) {
        if (owner === lease.owner) continue;
        await journal.record(
          owner,
          keys.map(({ key }) => ({ key, owner, state: "released" })),
        );
        ended.delete(owner);
      }
      const asked = lease;
      ended.add(asked.owner);
      const askedAt = clock.monotonic();
      const entries = await journal.claim(asked.owner, keys, context.again);
      if (!entries || !asked.renewed(askedAt)) {
        replace(asked);
        throw new JournalUnavailableError("the lease of this process ended while it claimed keys");
      }
      return new Map(entries.map((entry) => [entry.key, { entry: known(entry), lease: asked }]));
    });
  }

  function flush(): Promise<void> {
    flushing ??= (async () => {
      do await flushOnce();
      while (pending.size > 0 && !failure);
    })().finally(() => {
      flushing = undefined;
    });
    return flushing;
  }

  async function flushOnce(): Promise<void> {
    const group = firstOf(pending);
    try {
      await persist(async () => {
        const asked = lease;
        const askedAt = clock.monotonic();
        const isOwner = await journal.record(
          asked.owner,
          group.map(({ change }) => change),
        );
        if (!isOwner || !asked.renewed(askedAt)) replace(asked);
      });
      for (const each of group) {
        if (pending.get(each.change.key) === each) pending.delete(each.change.key);
        for (const resolve of each.resolve) resolve();
      }
    } catch {
      // `fail` has already rejected the pending changes.
    }
  }

  function beat(): void {
    if (journal.leaseMs === Number.POSITIVE_INFINITY || isClosed) return;
    cancelHeartbeat = clock.schedule(journal.leaseMs / 3, () => {
      if (!failure) void flush();
      beat();
    });
  }

  return {
    isOwn: (owner) => owners.has(owner),
    owner: () => lease.owner,
    claim: (key) =>
      new Promise((resolve, reject) => {
        if (failure) return reject(failure);
        if (refusal) return reject(refusal.reason);
        claims.push({ key, resolve, reject });
        // Keys that are requested at the same time are claimed as one group.
        queueMicrotask(() => void claimAll());
      }),
    answered() {
      unanswered--;
      void claimAll();
    },
    rest(ms) {
      const isNew = !refusal && clock.monotonic() >= restsUntil;
      if (refusal) return isNew;
      restsUntil = Math.max(restsUntil, clock.monotonic() + ms);
      cancelRest();
      cancelRest = clock.schedule(restsUntil - clock.monotonic(), () => void claimAll());
      return isNew;
    },
    drain(reason) {
      refusal ??= { reason };
      cancelRest();
      for (const { reject } of claims.splice(0)) reject(reason);
    },
    stop() {
      isStopped = true;
    },
    async collect(keys) {
      const asked = lease;
      const entries = await inTime(clock, journal.collect(asked.owner, keys));
      return entries.map((entry) => ({ entry: known(entry), lease: asked }));
    },
    result: (key) => persist(() => journal.result(key)),
    record: (change) =>
      new Promise((resolve, reject) => {
        if (failure) return reject(failure);
        const before = pending.get(change.key);
        pending.set(change.key, {
          change: { ...before?.change, ...withoutUndefined(change) },
          resolve: [...(before?.resolve ?? []), resolve],
          reject: [...(before?.reject ?? []), reject],
        });
        queueMicrotask(() => void flush());
      }),
    async close() {
      isClosed = true;
      cancelHeartbeat();
      try {
        await flushing;
        if (!failure) await persist(() => journal.record(lease.owner, [], true));
      } catch {
        // The error is already in `failure`.
      }
      await inTime(clock, journal.close()).catch(() => {});
      if (failure) throw failure;
    },
  };
}

/** Returns the changes to record next. */
function firstOf(pending: ReadonlyMap<string, Pending>): Pending[] {
  const group: Pending[] = [];
  let characters = 0;
  for (const each of pending.values()) {
    characters += each.change.result?.length ?? 0;
    if (group.length > 0 && (characters > MOST_CHARACTERS || group.length >= MOST_CHANGES)) break;
    group.push(each);
  }
  return group;
}

function withoutUndefined(change: JournalChange): JournalChange {
  return Object.fromEntries(
    Object.entries(change).filter(([, value]) => value !== undefined),
  ) as unknown as JournalChange;
}
