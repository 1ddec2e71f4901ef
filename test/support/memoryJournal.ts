import {
  applied,
  isFree,
  type Journal,
  type JournalBatch,
  type JournalEntry,
  takenOver,
} from "../../sdk/journal/journal";
import { JournalRefusedError } from "../../sdk/journal/journalErrors";

/** A journal in memory for several processes, whose leases end by a clock. */
export interface MemoryJournal extends Journal {
  readonly entries: Map<string, JournalEntry>;
}

export function memoryJournal(now: () => number, leaseMs: number): MemoryJournal {
  const entries = new Map<string, JournalEntry>();
  const results = new Map<string, string>();
  const leases = new Map<string, number>();
  let made: JournalBatch | undefined;
  const isGone = (owner: string) => (leases.get(owner) ?? Number.NEGATIVE_INFINITY) <= now();

  function renew(owner: string, ends = false): boolean {
    if (leases.has(owner) && isGone(owner)) return false;
    leases.set(owner, ends ? now() : now() + leaseMs);
    return true;
  }

  function look(owner: string, keys: readonly string[]): JournalEntry[] {
    return keys.flatMap((key) => {
      const entry = entries.get(key);
      if (!entry) return [];
      const seen = entry.owner !== owner && isGone(entry.owner) ? takenOver(entry, owner) : entry;
      entries.set(key, seen);
      return [seen];
    });
  }

  return {
    entries,
    async open(batch) {
      made ??= batch;
      if (JSON.stringify(made) !== JSON.stringify(batch)) throw new JournalRefusedError("another batch");
      return {
        leaseMs,
        async claim(owner, keys, again) {
          if (!renew(owner)) return undefined;
          for (const { key, hash } of keys) {
            if (isFree(entries.get(key), owner, again, isGone))
              entries.set(key, { key, hash, state: "claimed", owner });
          }
          return look(
            owner,
            keys.map(({ key }) => key),
          );
        },
        collect: async (owner, keys) => look(owner, keys),
        async record(owner, changes, ends) {
          for (const change of changes) {
            const entry = entries.get(change.key);
            const next = entry && applied(entry, change);
            if (!next || next === entry) continue;
            entries.set(change.key, next);
            if (change.result !== undefined) results.set(change.key, change.result);
          }
          return renew(owner, ends);
        },
        withJobs: async (jobIds) => [...entries.values()].filter(({ jobId = "" }) => jobIds.includes(jobId)),
        underWay: async () => [...entries.values()].filter(({ state }) => ["submitted", "settled"].includes(state)),
        result: async (key) => results.get(key),
        async close() {},
      };
    },
  };
}
