import type { FaultEffect } from "../../../emulator";
import { poolPrices } from "../../metrics/prices";
import type { AlertSettings } from "../stackSettings";
import type { Play } from "./play";

/** The execution time of a simulated job, in seconds. */
export const RUN_S = 20;
const EVERY_S = 60;
const MINUTE_S = 60;

/** A situation that an endpoint gets into, and the alerts that must fire. */
export interface FaultScenario {
  readonly name: string;
  /** The alerts that must fire. No other alert may fire. */
  readonly intended: readonly string[];
  /** How soon after the scenario begins the alerts must fire, in seconds. */
  readonly withinS: number;
  /** How long the scenario lasts, in seconds. */
  readonly lastsS: number;
  /** How soon after the scenario ends all alerts must have resolved, in seconds. */
  readonly recoversS: number;
  /** The interval between jobs, in seconds; 0 for no jobs. @default 60 */
  readonly jobsEveryS?: number;
  /**
   * `true` to restart all workers when the scenario begins, because it only affects starting
   * workers.
   */
  readonly restarts?: boolean;
  begin(play: Play, settings: AlertSettings): void;
  end(play: Play, settings: AlertSettings): void;
}

const UNREAD = ["ServerlessGpuNoRead", "ServerlessGpuNoAccountRead"];
const RECOVERS_S = 30 * MINUTE_S;

interface FaultRow {
  readonly effect: FaultEffect;
  readonly intended: readonly string[];
  readonly withinS: number;
  readonly restarts?: boolean;
}

const unread = (effect: FaultEffect): FaultRow => ({ effect, intended: UNREAD, withinS: 15 * MINUTE_S });
const harmless = (effect: FaultEffect): FaultRow => ({ effect, intended: [], withinS: 0 });
const ofStarts = (effect: FaultEffect, alert: string, minutes: number): FaultRow => ({
  effect,
  intended: [alert],
  withinS: minutes * MINUTE_S,
  restarts: true,
});
const HOURS_MS = 3 * 3_600_000;

/** Every kind of fault that the emulator can produce. */
export const FAULT_ROWS: Readonly<Record<string, FaultRow>> = {
  latencyMs: harmless({ latencyMs: 2000 }),
  status: unread({ status: 503 }),
  graphqlError: {
    effect: { graphqlError: { message: "Something went wrong" } },
    intended: ["ServerlessGpuNoAccountRead"],
    withinS: 15 * MINUTE_S,
  },
  nullAccount: { effect: { nullAccount: true }, intended: ["ServerlessGpuNoAccountRead"], withinS: 15 * MINUTE_S },
  html: unread({ html: true }),
  truncated: unread({ truncated: true }),
  hang: unread({ hang: true }),
  reset: unread({ reset: true }),
  listLagMs: harmless({ listLagMs: 60_000 }),
  emptyLists: harmless({ emptyLists: true }),
  dropWebhook: harmless({ dropWebhook: true }),
  killWorker: { effect: { killWorker: true }, intended: ["ServerlessGpuJobsFail"], withinS: 15 * MINUTE_S },
  hangWorker: { effect: { hangWorker: true }, intended: ["ServerlessGpuJobsFail"], withinS: 35 * MINUTE_S },
  throttleWorkerMs: ofStarts({ throttleWorkerMs: HOURS_MS }, "ServerlessGpuThrottled", 10),
  imagePullMs: ofStarts({ imagePullMs: HOURS_MS }, "ServerlessGpuSlowStart", 18),
  imagePullError: ofStarts({ imagePullError: true }, "ServerlessGpuWorkersUnhealthy", 15),
  crashLoop: ofStarts({ crashLoop: true }, "ServerlessGpuWorkersUnhealthy", 15),
  takesNoJobs: ofStarts({ takesNoJobs: true }, "ServerlessGpuWorkersTakeNoJobs", 10),
  soldOut: ofStarts({ soldOut: true }, "ServerlessGpuQueueNotServed", 10),
  stock: harmless({ stock: "Low" }),
};

/** Faults that only apply to GraphQL responses. */
const OF_GRAPHQL = ["graphqlError", "nullAccount"];
/** Faults that apply to an endpoint's workers. */
const SPECIFIC = [
  "killWorker",
  "hangWorker",
  "throttleWorkerMs",
  "imagePullMs",
  "imagePullError",
  "crashLoop",
  "takesNoJobs",
];

function faultScenario(name: string, { effect, intended, withinS, restarts }: FaultRow): FaultScenario {
  return {
    name,
    intended,
    withinS,
    lastsS: Math.max(withinS + 5 * MINUTE_S, 30 * MINUTE_S),
    recoversS: RECOVERS_S,
    ...(restarts && { restarts }),
    begin({ emulator }, { id }) {
      const match = {
        ...(SPECIFIC.includes(name) && { endpointId: id }),
        ...(OF_GRAPHQL.includes(name) && { interface: "graphql" as const }),
      };
      emulator.faults.add({ match, effect });
    },
    end: ({ emulator }) => emulator.faults.clear(),
  };
}

/** Returns scenarios that involve no fault of the service. */
function otherScenarios(settings: AlertSettings): FaultScenario[] {
  const { workersMin, workersMax } = settings;
  const lasts = { lastsS: 30 * MINUTE_S, recoversS: RECOVERS_S };
  return [
    {
      name: "more jobs than workersMax can run",
      ...lasts,
      intended: ["ServerlessGpuWorkersMaxReached"],
      withinS: 15 * MINUTE_S,
      jobsEveryS: RUN_S / (1.5 * workersMax),
      begin() {},
      end() {},
    },
    {
      name: "workersMax changed in the console",
      ...lasts,
      intended: ["ServerlessGpuDrift"],
      withinS: 10 * MINUTE_S,
      begin: ({ emulator }, { id }) => void emulator.endpoints.change(id, { workersMax: workersMax + 1 }),
      end: ({ emulator }, { id }) => void emulator.endpoints.change(id, { workersMax }),
    },
    {
      name: "a worker that never stops",
      ...lasts,
      jobsEveryS: 0,
      withinS: 25 * MINUTE_S,
      intended: ["ServerlessGpuNotScaledDown", "ServerlessGpuDrift"],
      begin: ({ emulator }, { id }) =>
        void emulator.endpoints.change(id, {
          workersMin: workersMin + 1,
          workersMax: Math.max(workersMax, workersMin + 1),
        }),
      end: ({ emulator }, { id }) => void emulator.endpoints.change(id, { workersMin, workersMax }),
    },
    spending(lasts),
    {
      name: "a recorder that stops",
      ...lasts,
      intended: ["ServerlessGpuRecordingStopped"],
      withinS: 5 * MINUTE_S,
      begin(play) {
        play.isRecording = false;
      },
      end(play) {
        play.isRecording = true;
      },
    },
    {
      name: "an endpoint with workersMin that gets no jobs",
      intended: workersMin > 0 ? ["ServerlessGpuBilledWithoutJobs"] : [],
      withinS: 390 * MINUTE_S,
      lastsS: 400 * MINUTE_S,
      recoversS: RECOVERS_S,
      jobsEveryS: 0,
      begin() {},
      end() {},
    },
  ];
}

/** Another endpoint in the account, whose workers use up most of the spend limit. */
const OTHERS = { id: "spending12345", name: "spending", templateId: "template", gpuIds: "ADA_24" };
const OTHERS_WORKERS = 100;

/**
 * Returns a scenario in which the account is close to its spend limit, but the stack's workers can
 * still start.
 */
function spending(lasts: Pick<FaultScenario, "lastsS" | "recoversS">): FaultScenario {
  return {
    name: "an account near its spend limit",
    ...lasts,
    intended: ["ServerlessGpuSpend"],
    withinS: 15 * MINUTE_S,
    begin({ emulator, readings }) {
      const price = poolPrices(readings.catalog.latest()).get(OTHERS.gpuIds) ?? 0;
      emulator.setSpendLimit(1.2 * OTHERS_WORKERS * price);
      emulator.endpoints.create({ ...OTHERS, workersMin: OTHERS_WORKERS, workersMax: OTHERS_WORKERS });
    },
    end: ({ emulator }) => void emulator.endpoints.change(OTHERS.id, { workersMin: 0, workersMax: 0 }),
  };
}

/** Returns all scenarios for an endpoint. */
export function scenariosOf(
  settings: AlertSettings,
  faults: readonly string[] = Object.keys(FAULT_ROWS),
): FaultScenario[] {
  const rows = faults.flatMap((name) => {
    const row = FAULT_ROWS[name];
    return row ? [faultScenario(name, row)] : [];
  });
  return [...rows, ...otherScenarios(settings)];
}

/** Returns a scenario without faults. */
export const clean = (lastsS: number): FaultScenario => ({
  name: "no fault",
  intended: [],
  withinS: 0,
  lastsS,
  recoversS: 0,
  begin() {},
  end() {},
});

/** Returns the interval between jobs during a scenario, in seconds; infinite if there are none. */
export function jobsEveryS({ jobsEveryS: given = EVERY_S }: FaultScenario): number {
  return given === 0 ? Number.POSITIVE_INFINITY : given;
}
