import type { Account } from "../server/account";
import type { Faults } from "../server/faultMatch";
import type { JournalTail } from "../server/journal";
import type { EmulatorClock } from "../time/virtualClock";
import type { RuntimeContext } from "../workers/context";

/** The parts of the emulator that the page shows. */
export interface PageOptions {
  readonly context: Pick<RuntimeContext, "clock" | "profile" | "watch">;
  readonly account: Account;
  readonly tail: JournalTail;
  readonly faults: Faults;
  /** The clock that the emulator uses. */
  readonly clock: EmulatorClock;
  /** The token in `About`. */
  readonly token: string;
}
