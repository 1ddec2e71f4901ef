import type { Clock } from "../contract/clock";
import type { JournalEntry } from "../journal/journal";
import type { Claim, Ledger } from "./ledger";

/** The pause between checks of keys that other processes are working on, in milliseconds. */
const LOOK_MS = 2_000;

/** The maximum number of keys per request to the journal. */
const MOST_KEYS = 1_000;

/** The inputs whose keys are currently being processed by other processes. */
interface Asides {
  readonly size: number;
  /**
   * Waits until this process has to act on a key, or until another process has delivered the key's
   * result. Resolves with `undefined` after `stop`.
   */
  wait(key: string): Promise<Claim | undefined>;
  /** Ends all waits. */
  stop(): void;
}

export function createAsides(clock: Clock, ledger: () => Ledger): Asides {
  const waiting = new Map<string, (claim: Claim | undefined) => void>();
  let isStopped = false;
  let cancel: (() => void) | undefined;

  function schedule(): void {
    if (cancel || isStopped || waiting.size === 0) return;
    cancel = clock.schedule(LOOK_MS, () => void look());
  }

  async function look(): Promise<void> {
    const keys = [...waiting.keys()];
    try {
      for (let at = 0; at < keys.length && !isStopped; at += MOST_KEYS) {
        for (const claim of await ledger().collect(keys.slice(at, at + MOST_KEYS))) {
          if (isElsewhere(claim)) continue;
          waiting.get(claim.entry.key)?.(claim);
          waiting.delete(claim.entry.key);
        }
      }
    } catch {
      // The next check may succeed. If the journal remains unavailable, the ledger ends the batch.
    }
    cancel = undefined;
    schedule();
  }

  return {
    get size() {
      return waiting.size;
    },
    wait(key) {
      if (isStopped) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        waiting.set(key, resolve);
        schedule();
      });
    },
    stop() {
      isStopped = true;
      cancel?.();
      for (const resolve of waiting.values()) resolve(undefined);
      waiting.clear();
    },
  };
}

const UNDER_WAY: readonly JournalEntry["state"][] = ["claimed", "submitted", "settled"];

/** Returns `true` if another live process is working on the key. */
export function isElsewhere({ entry, lease }: Claim): boolean {
  return UNDER_WAY.includes(entry.state) && entry.owner !== lease.owner;
}
