import { JOB_STATES, RETRYABLE_JOB_STATES, TERMINAL_JOB_STATES } from "../../sdk/contract/enums";
import { type JobFilter, jobView, latestJobs } from "../endpoints/jobView";
import { faultChoices } from "../server/faultRule";
import { isManual } from "../time/virtualClock";
import { createEndpointChanges, type Past } from "./endpointChanges";
import type { PageOptions } from "./pageOptions";
import { type RequestFilter, requestMatcher } from "./requestFilter";
import type { About, Change, ClockView } from "./views";

/** Which jobs and requests the page lists. */
export interface Filters {
  readonly jobs: JobFilter;
  readonly requests: RequestFilter;
}

/** Tracks the emulator's changes for one open page. */
export interface Changes {
  /**
   * Returns the changes since the last call. The first call returns the whole state. Returns
   * `undefined` if nothing has changed.
   */
  next(): Change | undefined;
  stop(): void;
}

/** How many jobs and how many requests the page lists. */
const LISTED = 200;
/** How often the page receives the current time, in real milliseconds. */
const CLOCK_MS = 2000;

export function followChanges(options: PageOptions, filters: Filters, past: Pick<Past, "drawn">): Changes {
  const { context, account, tail, faults } = options;
  const endpoints = createEndpointChanges(account.endpoints, context.clock, past);
  const clock = createClockView(options);
  const isShown = requestMatcher(filters.requests);
  const shown = new Map<string, string>();
  let areJobsChanged = true;
  let isFirst = true;
  let clockAt = 0;
  const stop = context.watch.add({
    endpoint(id) {
      areJobsChanged = true;
      endpoints.onChange(id);
    },
    job() {
      areJobsChanged = true;
    },
    worker: endpoints.moved,
  });

  /** Returns a field of a change, unless its value is the one that was last sent. */
  function changed<Name extends keyof Change>(name: Name, value: Change[Name]): Pick<Change, Name> | undefined {
    const text = JSON.stringify(value);
    if (shown.get(name) === text) return undefined;
    shown.set(name, text);
    return { [name]: value } as Pick<Change, Name>;
  }

  /** Returns the latest jobs, which are searched for only after a change. */
  function jobs(): Pick<Change, "jobs"> | undefined {
    if (!areJobsChanged) return undefined;
    areJobsChanged = false;
    const latest = latestJobs(account.endpoints, filters.jobs, LISTED);
    return changed(
      "jobs",
      latest.map(({ endpointId, job }) => jobView(endpointId, job)),
    );
  }

  return {
    next() {
      const change = {
        ...endpoints.changes(),
        ...jobs(),
        ...changed("requests", tail.latest(LISTED, isShown).map(tail.redacted)),
        ...changed("requestCount", tail.last()),
        ...changed("faults", faults.list()),
      };
      const first = isFirst ? { about: about(options) } : {};
      const isQuiet = !isFirst && Object.keys(change).length === 0;
      if (isQuiet && !clock.hasMoved() && performance.now() - clockAt < CLOCK_MS) return undefined;
      isFirst = false;
      clockAt = performance.now();
      return { ...first, clock: clock.view(), ...change };
    },
    stop,
  };
}

/** Measures the speed of the clock, because the clock itself does not report it. */
function createClockView({ context, clock: given }: PageOptions) {
  const { clock } = context;
  const manual = isManual(given);
  const realStart = performance.now();
  const start = clock.monotonic();
  let shown = clock.now();
  return {
    hasMoved: () => manual && clock.now() !== shown,
    view(): ClockView {
      shown = clock.now();
      const realMs = performance.now() - realStart;
      const rate = realMs < 50 ? 1 : Math.round(((clock.monotonic() - start) / realMs) * 10) / 10;
      return { now: shown, manual, rate: manual ? 0 : rate };
    },
  };
}

function about({ context, token }: PageOptions): About {
  return {
    token,
    profile: context.profile,
    faultChoices: faultChoices(),
    jobStates: { all: JOB_STATES, ended: TERMINAL_JOB_STATES, retryable: RETRYABLE_JOB_STATES },
  };
}
