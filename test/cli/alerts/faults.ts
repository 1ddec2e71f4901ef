import type { FaultEffect } from "../../../emulator";
import type { Play } from "../../support/play";
import { type FleetEndpoint, type FleetKind, seedOf } from "./fleet";

/** The run time of an ordinary job, in seconds. */
export const RUN_S = 20;
const MINUTE_S = 60;
const DAY_MS = 86_400_000;

/** A situation of an endpoint or an account, and the alerts that must fire. */
export interface Fault {
  /** The alerts that must fire, without their prefix, and how soon, in minutes. No other may. */
  readonly alerts: Readonly<Record<string, number>>;
  /** How long it lasts, in minutes. @default 30, or ten minutes after the last alert */
  readonly lastsMin?: number;
  /** The interval between jobs, in seconds; infinite for no jobs. @default 60 */
  readonly everyS?: number | ((endpoint: FleetEndpoint) => number);
  /** The run time of the jobs, in seconds. @default 20 */
  readonly runS?: number;
  /** `true` if it only affects workers that start, so that all workers are stopped first. */
  readonly restarts?: boolean;
  /** The kinds of endpoints that can have it. @default all that have a queue */
  readonly kinds?: readonly FleetKind[];
  /** Begins. @default nothing changes at the service */
  begin?(play: Play, endpoint: FleetEndpoint): void;
  /** Ends. @default all faults that concern the endpoint are removed */
  end?(play: Play, endpoint: FleetEndpoint): void;
}

/** An effect of the emulator on one endpoint. */
const effect = (effects: FaultEffect): Pick<Fault, "begin"> => ({
  begin: ({ emulator }, { id }) => void emulator.faults.add({ name: id, match: { endpointId: id }, effect: effects }),
});
const change = (to: (endpoint: FleetEndpoint) => object): Pick<Fault, "begin" | "end"> => ({
  begin: ({ emulator }, endpoint) => void emulator.endpoints.change(endpoint.id, to(endpoint)),
  end: ({ emulator }, { id, workersMin, workersMax }) => void emulator.endpoints.change(id, { workersMin, workersMax }),
});
const WITH_THREE: readonly FleetKind[] = ["delay3", "count3", "warm"];
/** Few jobs, so that what has waited is soon done when a fault ends. */
const FEW = { everyS: 150 };

/** The situations of one endpoint. */
export const ENDPOINT_FAULTS: Readonly<Record<string, Fault>> = {
  killWorker: { ...effect({ killWorker: true }), alerts: { JobsFail: 15 } },
  hangWorker: { ...effect({ hangWorker: true }), ...FEW, alerts: { JobsFail: 35 } },
  throttleWorkerMs: { ...effect({ throttleWorkerMs: DAY_MS }), ...FEW, restarts: true, alerts: { Throttled: 15 } },
  imagePullMs: { ...effect({ imagePullMs: DAY_MS }), ...FEW, restarts: true, alerts: { SlowStart: 20 } },
  imagePullError: { ...effect({ imagePullError: true }), ...FEW, restarts: true, alerts: { WorkersUnhealthy: 15 } },
  crashLoop: { ...effect({ crashLoop: true }), ...FEW, restarts: true, alerts: { WorkersUnhealthy: 15 } },
  takesNoJobs: { ...effect({ takesNoJobs: true }), ...FEW, restarts: true, alerts: { WorkersTakeNoJobs: 15 } },
  "one failed job every 20 minutes": { ...effect({ killWorker: true }), everyS: 1200, alerts: { JobsFail: 25 } },
  "all workers hang": { ...effect({ hangWorker: true }), ...FEW, runS: 7200, lastsMin: 50, alerts: { NoJobEnds: 45 } },
  "one worker starts forever": {
    begin: ({ emulator }, { id }) =>
      void emulator.faults.add({ name: id, match: { endpointId: id, nth: 2 }, effect: { imagePullMs: DAY_MS } }),
    restarts: true,
    kinds: WITH_THREE,
    everyS: 5,
    lastsMin: 35,
    alerts: { SlowStart: 25 },
  },
  "more jobs than workersMax can run": {
    alerts: { WorkersMaxReached: 15 },
    everyS: ({ workersMax }) => RUN_S / (1.5 * workersMax),
  },
  "long jobs at workersMax": { alerts: { WorkersMaxReached: 55 }, runS: 1200, lastsMin: 60 },
  "workersMax 0 with jobs waiting": {
    ...change(() => ({ workersMin: 0, workersMax: 0 })),
    ...FEW,
    alerts: { NoWorkersAllowed: 10, Drift: 15 },
  },
  "workersMax changed in the console": {
    ...change(({ workersMax }) => ({ workersMax: workersMax + 1 })),
    alerts: { Drift: 15 },
  },
  "a worker that never stops": {
    begin: ({ emulator }, { id, workersMin }) => void emulator.endpoints.change(id, { workersStandby: workersMin + 1 }),
    end: ({ emulator }, { id }) => void emulator.endpoints.change(id, { workersStandby: 0 }),
    everyS: Number.POSITIVE_INFINITY,
    alerts: { NotScaledDown: 20 },
  },
  "a deleted endpoint": {
    begin: ({ emulator }, { id }) => emulator.endpoints.delete(id),
    end: ({ emulator }, endpoint) => void emulator.endpoints.create(seedOf(endpoint)),
    alerts: { EndpointGone: 8 },
  },
  "no jobs": { everyS: Number.POSITIVE_INFINITY, alerts: {} },
};

/** A worker of workersMin that has a job every three hours. */
export const RARELY_BUSY: Fault = {
  everyS: 3 * 3600,
  kinds: ["warm"],
  lastsMin: 390,
  alerts: { BilledWithoutJobs: 380 },
};

const UNREAD: Fault["alerts"] = { NoRead: 15, NoAccountRead: 15 };
const ofAll = (effects: FaultEffect, alerts: Fault["alerts"], more: Partial<Fault> = {}): Fault => ({
  begin: ({ emulator }) => void emulator.faults.add({ name: "all", effect: effects }),
  end: ({ emulator }) => emulator.faults.clear(),
  alerts,
  ...more,
});
const ofGraphql = (effects: FaultEffect): Fault => ({
  ...ofAll(effects, { NoAccountRead: 15 }),
  begin: ({ emulator }) => void emulator.faults.add({ match: { interface: "graphql" }, effect: effects }),
});

/** Another endpoint, whose workers cost 112 US dollars an hour. The account's balance is 100. */
const OTHERS = { id: "spending12345", name: "spending", templateId: "template", gpuIds: "ADA_24" };
const spending = (spendLimit: number | undefined): Pick<Fault, "begin" | "end"> => ({
  begin({ emulator }) {
    emulator.setSpendLimit(spendLimit);
    emulator.endpoints.create({ ...OTHERS, workersMin: 100, workersMax: 100 });
  },
  end: ({ emulator }) => emulator.endpoints.delete(OTHERS.id),
});

/** The situations of an account. The rows of the emulator's faults have their names. */
export const ACCOUNT_FAULTS: Readonly<Record<string, Fault>> = {
  latencyMs: ofAll({ latencyMs: 2000 }, {}),
  status: ofAll({ status: 503 }, UNREAD),
  graphqlError: ofGraphql({ graphqlError: { message: "Something went wrong" } }),
  nullAccount: ofGraphql({ nullAccount: true }),
  html: ofAll({ html: true }, UNREAD),
  truncated: ofAll({ truncated: true }, UNREAD),
  hang: ofAll({ hang: true }, UNREAD),
  reset: ofAll({ reset: true }, UNREAD),
  listLagMs: ofAll({ listLagMs: 60_000 }, {}),
  emptyLists: ofAll({ emptyLists: true }, {}),
  dropWebhook: ofAll({ dropWebhook: true }, {}),
  soldOut: ofAll({ soldOut: true }, { QueueNotServed: 15 }, { ...FEW, restarts: true }),
  stock: ofAll({ stock: "Low" }, {}),
  "an account near its spend limit": { ...spending(130), alerts: { Spend: 15, LowBalance: 15 } },
  "a balance for less than an hour": { ...spending(undefined), alerts: { LowBalance: 15 } },
  "a recorder that stops": {
    begin(play) {
      play.isRecording = false;
    },
    end(play) {
      play.isRecording = true;
    },
    alerts: { RecordingStopped: 5 },
  },
};

/** Returns how long a fault lasts, in seconds. */
export const lastsS = ({ alerts, lastsMin = Math.max(30, ...Object.values(alerts).map((min) => min + 10)) }: Fault) =>
  lastsMin * MINUTE_S;
