import type { Journal, OpenJournal } from "../../sdk/journal/journal";
import type { Emulated } from "./emulated";

/** Returns a journal that stops the virtual time while the disk works. */
export function heldJournal({ clock }: Pick<Emulated, "clock">, journal: Journal): Journal {
  const hold = <T>(work: Promise<T>) => {
    clock.hold(work.catch(() => {}));
    return work;
  };
  const held = (open: OpenJournal): OpenJournal => ({
    ...open,
    claim: (...args) => hold(open.claim(...args)),
    collect: (...args) => hold(open.collect(...args)),
    record: (...args) => hold(open.record(...args)),
    close: () => hold(open.close()),
  });
  return { open: (batch) => hold(journal.open(batch).then(held)) };
}
