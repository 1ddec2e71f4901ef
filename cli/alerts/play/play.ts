import { type Emulator, type EmulatorOptions, manualClock, startEmulator } from "../../../emulator";
import { createClient, type ManagementApi } from "../../../sdk";
import type { Clock } from "../../../sdk/contract/clock";
import { createExposition } from "../../metrics/exposition";
import { createReadings, type Readings } from "../../metrics/readings";

/** How long a simulation waits for reads that hang, in real milliseconds. */
const LONGEST_MS = 2_000;
const LONGEST_OF_SLOW_MS = 30;
/** The longest step of virtual time while a request hangs, in milliseconds. */
const STEP_MS = 5_000;

/** An emulator and a metrics exporter that run in virtual time. */
export interface Play {
  readonly emulator: Emulator;
  readonly readings: Readings;
  /** Set to `false` to export metrics as they look after the recorder had to stop. */
  isRecording: boolean;
  /** Returns the virtual time since the start, in seconds. */
  elapsedS(): number;
  /** Returns the metrics as Prometheus would scrape them. */
  scrape(): Promise<string>;
  /** Advances virtual time, and runs the reads and workers that become due. */
  advance(ms: number): Promise<void>;
  submit(endpointId: string, input?: object): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The options of a simulation. */
export interface PlayOptions {
  readonly api: ManagementApi;
  readonly emulator: EmulatorOptions;
  readonly ids?: readonly string[];
  readonly healthEveryMs?: number;
}

/** Starts an emulator and an exporter that share one manual clock. */
export async function startPlay({ api, emulator: options, ids, healthEveryMs }: PlayOptions): Promise<Play> {
  const clock = manualClock(Date.UTC(2026, 0, 5));
  const emulator = await startEmulator({ profile: "observed", ...options, clock });
  const { url, apiKey } = emulator;
  const service = { service: "runpod", graphqlUrl: url, restUrl: url, queueUrl: url } as const;
  const client = createClient({ ...service, apiKey, api, clock, onRequest: (event) => readings.noteRequest(event) });
  // Don't wait for a response that hangs or is delayed: it only arrives when virtual time advances.
  const isSlow = () => emulator.faults.list().some(({ effect }) => effect.hang || effect.latencyMs);
  const quiet = () => settledWithin(() => readings.settled(), isSlow() ? LONGEST_OF_SLOW_MS : LONGEST_MS);
  // Virtual time stands still while reads are in progress, because they take real time.
  const held: Clock = {
    now: clock.now,
    monotonic: clock.monotonic,
    schedule: (delayMs, callback) =>
      clock.schedule(delayMs, () => {
        callback();
        clock.hold(quiet());
      }),
  };
  const readings: Readings = createReadings({
    client,
    clock: held,
    showsReleases: api === "v2",
    ids,
    healthEveryMs,
    say: () => {},
  });
  const isRecording = () => play.isRecording;
  const { render } = createExposition({ readings, stack: "", version: "0.0.0", api, isRecording });
  const ending = new AbortController();
  const running = readings.run(ending.signal);
  await quiet();
  const play: Play = {
    emulator,
    readings,
    scrape: render,
    isRecording: true,
    elapsedS: () => clock.monotonic() / 1000,
    async advance(ms) {
      for (let leftMs = ms; leftMs > 0; leftMs -= STEP_MS) {
        await clock.advance(Math.min(leftMs, STEP_MS));
        if (isSlow()) await quiet();
      }
    },
    async submit(endpointId, input = { prompt: "x" }) {
      const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
      const submitted = fetch(`${url}/v2/${endpointId}/run`, {
        method: "POST",
        headers,
        body: JSON.stringify({ input }),
      });
      // A job that a fault rejects or delays is lost, as it would be for a client that gives up.
      const ended = submitted.then((response) => response.arrayBuffer()).catch(() => {});
      await settledWithin(() => ended, isSlow() ? LONGEST_OF_SLOW_MS : LONGEST_MS);
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      await emulator.stop();
      await client.close();
      await running;
    },
  };
  return play;
}

/** Waits until the reads have settled, but no longer than `ms` of real time. */
async function settledWithin(settled: () => Promise<unknown>, ms: number): Promise<void> {
  // The callback that just ran starts its reads in a later turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([settled(), late]);
  clearTimeout(timer);
}
