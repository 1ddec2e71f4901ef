import type { ManagementApi } from "../../../sdk";
import type { AlertSettings } from "../stackSettings";
import { type Play, startPlay } from "./play";
import { type FaultScenario, jobsEveryS, RUN_S } from "./scenarios";

/** The scrape interval, in seconds. */
export const SCRAPE_S = 60;
/**
 * How long endpoints run before a scenario begins, in seconds. Rules look back up to 15 minutes.
 */
export const WARM_UP_S = 20 * 60;

/**
 * The time series of a simulation, with one value per scrape; `undefined` where a series has no
 * value.
 */
export type MetricSeries = ReadonlyMap<string, readonly (number | undefined)[]>;

/** The result of running a scenario. */
export interface PlayedScenario {
  readonly scenario: FaultScenario;
  readonly series: MetricSeries;
  readonly scrapes: number;
}

/** How often each of the other endpoints gets a job, in seconds. */
const OTHERS_EVERY_S = 300;

/** Runs a scenario against the first endpoint. The others get a few jobs and no faults. */
export async function playScenario(
  api: ManagementApi,
  endpoints: readonly AlertSettings[],
  scenario: FaultScenario,
): Promise<PlayedScenario> {
  const [played, ...others] = endpoints as [AlertSettings, ...AlertSettings[]];
  await using play = await startPlay({ api, ids: endpoints.map(({ id }) => id), emulator: emulatorFor(endpoints) });
  const series = new Map<string, (number | undefined)[]>();
  let scrapes = 0;
  let [lastJobS, lastOthersS] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];

  async function run(seconds: number, everyS: number): Promise<void> {
    const end = play.elapsedS() + seconds;
    while (play.elapsedS() < end) {
      if (play.elapsedS() - lastJobS >= everyS) {
        lastJobS = play.elapsedS();
        await play.submit(played.id);
      }
      if (play.elapsedS() - lastOthersS >= OTHERS_EVERY_S) {
        lastOthersS = play.elapsedS();
        for (const { id } of others) await play.submit(id);
      }
      const scrapeAt = scrapes * SCRAPE_S;
      if (play.elapsedS() >= scrapeAt) note(series, await play.scrape(), scrapes++);
      const next = Math.min(lastJobS + everyS, scrapes * SCRAPE_S, end);
      await play.advance(Math.max(100, (next - play.elapsedS()) * 1000));
    }
  }

  await run(WARM_UP_S, SCRAPE_S);
  scenario.begin(play, played);
  if (scenario.restarts) await restart(play, played, run);
  await run(scenario.lastsS, jobsEveryS(scenario));
  scenario.end(play, played);
  if (scenario.restarts) await restart(play, played, run);
  await run(scenario.recoversS, SCRAPE_S);
  return { scenario, series, scrapes };
}

function emulatorFor(endpoints: readonly AlertSettings[]) {
  const seeds = endpoints.map(({ id, name, workersMin, workersMax, scalerType, scalerValue, idleTimeout, type }) => ({
    id,
    name,
    workersMin,
    workersMax,
    scalerValue,
    idleTimeout,
    templateId: "template",
    gpuIds: "ADA_24",
    scalerType: scalerType as "QUEUE_DELAY",
    type: type === "LOAD_BALANCER" ? ("LB" as const) : ("QB" as const),
  }));
  const work = (_: unknown, { sleep }: { sleep(ms: number): Promise<void> }) => sleep(RUN_S * 1000);
  return { seed: { endpoints: seeds }, coldStartMs: 10_000, randomSeed: 1, handlers: { default: work } };
}

/** Stops all workers, so that a fault affects (or stops affecting) the workers that start now. */
async function restart(play: Play, settings: AlertSettings, run: (s: number, everyS: number) => Promise<void>) {
  const { id, workersMin, workersMax } = settings;
  play.emulator.endpoints.change(id, { workersMin: 0, workersMax: 0 });
  await run(SCRAPE_S, SCRAPE_S);
  play.emulator.endpoints.change(id, { workersMin, workersMax });
}

/** The metrics that the rules use. */
const USED = /^serverless_gpu_(endpoint_(jobs|workers|scaler|idle|read_age|dollars)|account|read_age|recording)/;

/** Adds the values of one scrape to the series. */
function note(series: Map<string, (number | undefined)[]>, text: string, index: number): void {
  for (const line of text.split("\n")) {
    if (!USED.test(line)) continue;
    const at = line.lastIndexOf(" ");
    const name = line.slice(0, at);
    const values = series.get(name) ?? [];
    series.set(name, values);
    values[index] = Number(line.slice(at + 1));
  }
}
