import type { Assumptions } from "../../../emulator/forecast/assumptions";
import type { Level } from "../../../emulator/model/fidelity";
import { REQUEST_COUNT_SCALE_DOWN_MS } from "../../../emulator/workers/scaling";
import { EXECUTION_TIMEOUT_MS } from "../../../sdk/contract/limits";
import { shownNumber, shownTime } from "../../shownValues";
import type { ForecastFlags } from "../forecastFlags";
import type { Settings } from "./endpoints";
import type { Price } from "./prices";
import { readSamples } from "./samples";

/** An assumption, as the output lists it. */
export interface ShownAssumption {
  readonly level: Level | "given";
  readonly text: string;
  /** The option that changes the assumption. */
  readonly option?: string;
}

const DAY_S = 86_400;

const COLD_STARTS = [
  { seconds: 30, weight: 0.9 },
  { seconds: 240, weight: 0.1 },
];

/** Returns the assumptions from the options, with defaults for those that are not given. */
export function assumptionsOf(flags: ForecastFlags): Assumptions {
  const { coldStart = [], restore = { seconds: 2, recentShare: 0.8, otherShare: 0.2 } } = flags;
  return {
    evaluateEveryS: [4, 1, 10],
    startAtOnce: [Number.POSITIVE_INFINITY, 1],
    concurrency: flags.concurrency ?? 1,
    takeEveryS: 1,
    coldStarts: {
      kinds: typeof coldStart === "string" || coldStart.length === 0 ? COLD_STARTS : coldStart,
      samples: typeof coldStart === "string" ? readSamples(coldStart) : [],
      restore: { ...restore, recentS: 300 },
    },
    throttledShare: flags.throttled?.share ?? 0,
    throttledS: flags.throttled?.seconds ?? 0,
    ttlS: flags.ttl ?? DAY_S,
    executionTimeoutS: flags.executionTimeout ?? EXECUTION_TIMEOUT_MS.default / 1000,
  };
}

/** Describes the assumptions, each with the confidence in it. */
export function shownAssumptions(
  flags: ForecastFlags,
  assumptions: Assumptions,
  all: readonly Settings[],
  prices: readonly Price[],
): ShownAssumption[] {
  return [
    ...scalerRows(all, assumptions),
    row(
      level(flags.concurrency, "assumed"),
      `a worker runs ${assumptions.concurrency} ${assumptions.concurrency === 1 ? "job" : "jobs"} at once`,
      "--concurrency",
    ),
    ...coldStartRows(
      flags,
      assumptions,
      all.some(({ flashBoot }) => flashBoot),
    ),
    ...jobRows(flags, assumptions),
    ...priceRows(flags, all, prices),
  ];
}

const level = (isGiven: unknown, otherwise: Level) => (isGiven === undefined ? otherwise : "given");

function scalerRows(all: readonly Settings[], { evaluateEveryS, startAtOnce, takeEveryS }: Assumptions) {
  const steps = startAtOnce.map((step) => (Number.isFinite(step) ? step : "all that are missing")).join(" or ");
  const has = (type: Settings["scalerType"]) => all.some(({ scalerType }) => scalerType === type);
  return [
    ...(has("QUEUE_DELAY")
      ? [
          row(
            "observed",
            "QUEUE_DELAY: a worker for the first job, and one for each job that waits longer than scalerValue seconds",
          ),
          row("documented", "QUEUE_DELAY: a worker stops after idleTimeout seconds without a job"),
        ]
      : []),
    ...(has("REQUEST_COUNT")
      ? [
          row("documented", "REQUEST_COUNT: one worker for each scalerValue jobs, waiting or in progress"),
          row(
            "assumed",
            `REQUEST_COUNT: idleTimeout has no effect; a worker that is not needed stops after ${REQUEST_COUNT_SCALE_DOWN_MS / 1000} s`,
          ),
        ]
      : []),
    row("assumed", `the scaler runs every ${evaluateEveryS.join(", ")} s, one value for each run`),
    row("assumed", `it starts ${steps} at once, one value for each run; the first worker starts immediately`),
    ...(all.some(({ schedule }) => schedule)
      ? [
          row(
            "assumed",
            "worker counts change at the moment when a rule fires; with a tick every 15 minutes, they change later",
          ),
        ]
      : []),
    row("observed", `a busy worker asks for its next job every ${shownTime(takeEveryS)}`),
  ];
}

function jobRows(flags: ForecastFlags, { throttledShare, throttledS, ttlS, executionTimeoutS }: Assumptions) {
  return [
    row(
      level(flags.throttled, "assumed"),
      throttledShare === 0
        ? "there is always a free machine"
        : `${shownNumber(throttledShare * 100)} % of starts wait ${shownTime(throttledS)} for a free machine; this time is not billed`,
      "--throttled",
    ),
    row(level(flags.ttl, "documented"), `a job is lost ${shownTime(ttlS)} after it was submitted`, "--ttl"),
    row(
      level(flags.executionTimeout, "documented"),
      `a job runs for at most ${shownTime(executionTimeoutS)}`,
      "--execution-timeout",
    ),
  ];
}

function priceRows(flags: ForecastFlags, all: readonly Settings[], prices: readonly Price[]) {
  const { activeDiscount, freeStarts } = flags;
  const shown = new Set(prices.map(({ perSecond, source }) => `a worker costs $${perSecond} a second: ${source}`));
  return [
    ...(all.some(({ instanceIds }) => instanceIds === "")
      ? [
          row(
            all.some(({ workersMax }) => workersMax > 4) ? "assumed" : "documented",
            "all workers run on the first GPU pool of gpuIds; from the fifth worker on, the service uses the whole list",
          ),
        ]
      : []),
    ...(all.some(({ instanceIds }) => instanceIds !== "")
      ? [row("assumed", "all workers run on the first instance of instanceIds")]
      : []),
    ...[...shown].map((text) => row(typeof flags.prices === "number" ? "given" : "documented", text, "--prices")),
    row(
      level(activeDiscount, "assumed"),
      `workersMin workers cost ${shownNumber((activeDiscount ?? 0) * 100)} % less`,
      "--active-discount",
    ),
    row(
      freeStarts ? "given" : "observed",
      `a worker's start is ${freeStarts ? "not " : ""}billed (sources contradict each other)`,
      "--free-starts",
    ),
    row(
      "documented",
      "each worker is billed in whole seconds, from its start to its stop; disks and volumes are not included",
    ),
  ];
}

function coldStartRows(flags: ForecastFlags, { coldStarts }: Assumptions, flashBoot: boolean): ShownAssumption[] {
  const { kinds, samples, restore } = coldStarts;
  if (samples.length > 0)
    return [row("given", `cold starts are drawn from ${samples.length} times in ${flags.coldStart}`, "--cold-start")];
  const total = kinds.reduce((sum, { weight }) => sum + weight, 0);
  const shown = kinds.map(({ seconds, weight }) => `${shownTime(seconds)} (${shownNumber((weight / total) * 100)} %)`);
  return [
    row(flags.coldStart ? "given" : "assumed", `cold starts take ${shown.join(" or ")}, ± 30 %`, "--cold-start"),
    ...(flashBoot
      ? [
          row(
            flags.restore ? "given" : "assumed",
            `FlashBoot restores ${shownNumber(restore.recentShare * 100)} % of workers that start within ` +
              `${shownTime(restore.recentS)} after the last one stopped, and ${shownNumber(restore.otherShare * 100)} % of later ones, ` +
              `in ${shownTime(restore.seconds)}`,
            "--restore",
          ),
        ]
      : []),
  ];
}

function row(level: ShownAssumption["level"], text: string, option?: string): ShownAssumption {
  return { level, text, ...(option === undefined ? {} : { option }) };
}

/** The facts that no forecast can know. */
export const LIMITS = [
  "A forecast cannot know when the service has no free machine (throttling), nor on which host a worker starts.",
  "In a published run of the service, a burst of six jobs without a warm worker took up to twice as long as in the model.",
];
