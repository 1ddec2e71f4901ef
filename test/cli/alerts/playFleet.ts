import type { ManagementApi } from "../../../sdk";
import { type Play, type PlayedExporter, startPlay } from "../../support/play";
import { type Fault, lastsS, RUN_S } from "./faults";
import { type FleetEndpoint, seedOf, wantedOf } from "./fleet";

/** The scrape interval, in seconds. */
export const SCRAPE_S = 60;
/** How long the endpoints run before the faults begin, in seconds. Rules look back that far. */
export const WARM_UP_S = 32 * 60;
/** How soon after a fault all its alerts must have ended, in seconds. */
export const RECOVERS_S = 35 * 60;
const STEP_S = 5;
/** How often an endpoint without a fault gets a job, in seconds. */
const OTHERS_EVERY_S = 300;
/** Fewer than the service's limit for ten seconds. */
const MOST_CANCELS = 90;

/** The time series of a simulation, with one value per scrape; `undefined` without a value. */
export type MetricSeries = ReadonlyMap<string, readonly (number | undefined)[]>;

export interface FaultyEndpoint {
  readonly name: string;
  readonly fault: Fault;
  readonly endpoint: FleetEndpoint;
}

/** What is simulated. */
export interface FleetPlan {
  readonly api: ManagementApi;
  readonly fleet: readonly FleetEndpoint[];
  /** The endpoints with a fault. All faults begin at the same time. */
  readonly faulty: readonly FaultyEndpoint[];
  /** How long it goes on, in seconds. @default until all faults have ended, and their alerts */
  readonly lastsS?: number;
  readonly healthEveryMs?: number;
  /** Called before each scrape with the minutes since the warm-up. */
  eachMinute?(minute: number, play: Play, exporters: PlayedExporter[]): Promise<void> | void;
  /** Returns `false` while the exporters cannot be scraped. @default they always can */
  isUp?(minute: number): boolean;
}

export interface PlayedFleet {
  readonly plan: FleetPlan;
  readonly series: MetricSeries;
  readonly scrapes: number;
}

/** The jobs of an endpoint. */
interface Lane {
  readonly endpoint: FleetEndpoint;
  everyS: number;
  runS: number;
  lastS: number;
  readonly ids: string[];
}

const work = ({ input: { runS } }: { input: { runS: number } }, { sleep }: { sleep(ms: number): Promise<void> }) =>
  sleep(runS * 1000);

/** Runs a fleet, and records what Prometheus would scrape. */
export async function playFleet(plan: FleetPlan): Promise<PlayedFleet> {
  const { api, fleet, faulty, healthEveryMs, eachMinute, isUp = () => true } = plan;
  await using play = await startPlay({
    api,
    healthEveryMs,
    readState: async () => fleet.map(wantedOf),
    emulator: {
      seed: { endpoints: fleet.map(seedOf) },
      coldStartMs: 10_000,
      randomSeed: 1,
      rateLimits: { management: "off" },
      handlers: { default: work as never },
    },
  });
  const exporters: PlayedExporter[] = [play];
  const lanes = new Map(fleet.map((endpoint) => [endpoint.id, ordinary(endpoint, faulty)]));
  const events = faulty.flatMap((each) => eventsOf(play, each, lanes.get(each.endpoint.id) as Lane));
  const endS = plan.lastsS ?? Math.max(0, ...events.map(({ atS }) => atS)) + RECOVERS_S;
  const series = new Map<string, (number | undefined)[]>();
  let scrapes = 0;
  for (let nowS = 0; nowS < endS; nowS += STEP_S) {
    for (const event of events) if (event.atS === nowS) await event.run();
    for (const lane of lanes.values()) await submitDue(play, lane, nowS);
    if (nowS % SCRAPE_S === 0) {
      const minute = (nowS - WARM_UP_S) / 60;
      await eachMinute?.(minute, play, exporters);
      for (const [at, { scrape }] of exporters.entries()) {
        const text = isUp(minute) ? `${await scrape()}up 1` : "up 0";
        note(series, text, `gpu-${at}:9837`, scrapes);
      }
      scrapes += 1;
    }
    await play.advance(STEP_S * 1000);
  }
  return { plan, series, scrapes };
}

function ordinary(endpoint: FleetEndpoint, faulty: readonly FaultyEndpoint[]): Lane {
  const isFaulty = faulty.some((each) => each.endpoint === endpoint);
  const everyS = isFaulty ? 60 : OTHERS_EVERY_S;
  return { endpoint, everyS, runS: RUN_S, lastS: -everyS, ids: [] };
}

async function submitDue(play: Play, lane: Lane, nowS: number): Promise<void> {
  const { endpoint, everyS, runS, ids } = lane;
  if (endpoint.isBalancer) return;
  for (; nowS - lane.lastS >= everyS; lane.lastS = Math.max(nowS - STEP_S, lane.lastS + everyS)) {
    const policy = runS > RUN_S && { policy: { executionTimeout: 86_400_000 } };
    const id = await play.submit(endpoint.id, { runS }, { ...policy });
    if (id !== undefined) ids.push(id);
    if (everyS === Number.POSITIVE_INFINITY) return;
  }
}

/** Returns when a fault begins and ends, in seconds. */
export const beginS = ({ restarts }: Fault) => WARM_UP_S + (restarts ? SCRAPE_S : 0);
export const endS = (fault: Fault) => beginS(fault) + lastsS(fault);

/** Returns what happens to a faulty endpoint. */
function eventsOf(play: Play, { fault, endpoint }: FaultyEndpoint, lane: Lane) {
  const { emulator } = play;
  const { id, workersMin, workersMax } = endpoint;
  const { everyS = 60, runS = RUN_S } = fault;
  const stop = () => void emulator.endpoints.change(id, { workersMin: 0, workersMax: 0 });
  const start = () => void emulator.endpoints.change(id, { workersMin, workersMax });
  const begin = () => {
    fault.begin?.(play, endpoint);
    lane.everyS = typeof everyS === "number" ? everyS : everyS(endpoint);
    lane.runS = runS;
    if (fault.restarts) start();
    if (everyS === Number.POSITIVE_INFINITY) lane.lastS = play.elapsedS();
  };
  const end = async () => {
    if (fault.end) fault.end(play, endpoint);
    else for (const rule of emulator.faults.list()) if (rule.name === id) emulator.faults.remove(rule.id);
    Object.assign(lane, { everyS: 60, runS: RUN_S });
    // Jobs that take long or hang would not end in time.
    if (runS > RUN_S || everyS !== 60) await play.clear(id, lane.ids.slice(-MOST_CANCELS));
    if (fault.restarts) stop();
  };
  const at = (atS: number, run: () => unknown) => ({ atS, run });
  const restarts = fault.restarts ? [at(WARM_UP_S, stop), at(endS(fault) + SCRAPE_S, start)] : [];
  return [at(beginS(fault), begin), at(endS(fault), end), ...restarts];
}

/** The metrics that the rules use. */
const USED =
  /^up |^serverless_gpu_(endpoint_(jobs|workers|wanted|scaler|idle|info|gone|read_age|dollars|worker_seconds)|account|read_age|recording|exporter)/;

/** Adds the values of one scrape to the series, with the labels that Prometheus adds. */
function note(series: Map<string, (number | undefined)[]>, text: string, instance: string, index: number): void {
  const target = `instance="${instance}",job="gpu"`;
  for (const line of text.split("\n").filter((each) => USED.test(each))) {
    const at = line.lastIndexOf(" ");
    const [name = "", labels] = line.slice(0, at).split(/[{}]/);
    const key = `${name}{${labels === undefined ? "" : `${labels},`}${target}}`;
    const values = series.get(key) ?? [];
    series.set(key, values);
    values[index] = Number(line.slice(at + 1));
  }
}
