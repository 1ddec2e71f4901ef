import { createExposition } from "../../cli/metrics/exposition";
import { createReadings, type Readings, type ReadingsOptions } from "../../cli/metrics/readings";
import { type Emulator, type EmulatorOptions, manualClock, startEmulator } from "../../emulator";
import { createClient, type ManagementApi } from "../../sdk";
import type { Clock } from "../../sdk/contract/clock";

/** How long a simulation waits for reads that hang, in real milliseconds. */
const LONGEST_MS = 2_000;
const LONGEST_OF_SLOW_MS = 30;
/** The longest step of virtual time while a request hangs, in milliseconds. */
const STEP_MS = 5_000;

/** An exporter in virtual time. */
export interface PlayedExporter {
  readonly readings: Readings;
  /** Set to `false` to export metrics as they look after the recorder had to stop. */
  isRecording: boolean;
  /** Returns the metrics as Prometheus would scrape them. */
  scrape(): Promise<string>;
  /** Ends its reads. The metrics become old. */
  stopReading(): void;
}

/** An emulator and a metrics exporter that run in virtual time. */
export interface Play extends PlayedExporter {
  readonly emulator: Emulator;
  /** Returns the virtual time since the start, in seconds. */
  elapsedS(): number;
  /** Advances virtual time, and runs the reads and workers that become due. */
  advance(ms: number): Promise<void>;
  /** Submits a job. Resolves to its id, or to `undefined` if a fault rejects or delays it. */
  submit(endpointId: string, input?: object, options?: object): Promise<string | undefined>;
  /** Removes waiting jobs, and cancels those of the given ones that run. */
  clear(endpointId: string, jobIds: readonly string[]): Promise<void>;
  /** Starts another exporter for the same account. */
  addExporter(): Promise<PlayedExporter>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The options of a simulation. */
export interface PlayOptions extends Pick<ReadingsOptions, "readState" | "isWanted" | "healthEveryMs"> {
  /** Gets what the exporter prints. */
  readonly say?: ReadingsOptions["say"];
  readonly api: ManagementApi;
  readonly emulator: EmulatorOptions;
}

/** Starts an emulator and an exporter that share one manual clock. */
export async function startPlay(options: PlayOptions): Promise<Play> {
  const clock = manualClock(Date.UTC(2026, 0, 5));
  const emulator = await startEmulator({ profile: "observed", ...options.emulator, clock });
  const { url, apiKey } = emulator;
  // Don't wait for a response that hangs or is delayed: it only arrives when virtual time advances.
  const isSlow = () => emulator.faults.list().some(({ effect }) => effect.hang || effect.latencyMs);
  const exporters: (PlayedExporter & { close(): Promise<void> })[] = [];
  const settled = () => Promise.all(exporters.map(({ readings }) => readings.settled()));
  const quiet = () => settledWithin(settled, isSlow() ? LONGEST_OF_SLOW_MS : LONGEST_MS);
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
  const addExporter = async () => {
    const exporter = await startExporter(options, emulator, held);
    exporters.push(exporter);
    await quiet();
    return exporter;
  };
  const first = await addExporter();
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  const post = (path: string, body: object) =>
    fetch(`${url}/v2/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return Object.assign(first, {
    emulator,
    addExporter,
    elapsedS: () => clock.monotonic() / 1000,
    async advance(ms: number) {
      for (let leftMs = ms; leftMs > 0; leftMs -= STEP_MS) {
        await clock.advance(Math.min(leftMs, STEP_MS));
        if (isSlow()) await quiet();
      }
    },
    async submit(endpointId: string, input: object = { prompt: "x" }, options: object = {}) {
      let id: string | undefined;
      const submitted = post(`${endpointId}/run`, { input, ...options }).then(async (response) => {
        ({ id } = (await response.json()) as { id?: string });
      });
      // A job that a fault rejects or delays is lost, as it would be for a client that gives up.
      const ended = submitted.catch(() => {});
      await settledWithin(() => ended, isSlow() ? LONGEST_OF_SLOW_MS : LONGEST_MS);
      return id;
    },
    async clear(endpointId: string, jobIds: readonly string[]) {
      const paths = ["purge-queue", ...jobIds.map((id) => `cancel/${id}`)];
      for (const path of paths) await (await post(`${endpointId}/${path}`, {})).arrayBuffer();
    },
    async [Symbol.asyncDispose]() {
      for (const exporter of exporters) exporter.stopReading();
      await emulator.stop();
      for (const exporter of exporters) await exporter.close();
    },
  });
}

async function startExporter(
  { api, readState, isWanted, healthEveryMs, say = () => {} }: PlayOptions,
  { url, apiKey }: Emulator,
  clock: Clock,
) {
  const service = { service: "runpod", graphqlUrl: url, restUrl: url, queueUrl: url } as const;
  const client = createClient({ ...service, apiKey, api, clock, onRequest: (event) => readings.noteRequest(event) });
  const readings: Readings = createReadings({
    client,
    clock,
    showsReleases: api === "v2",
    readState,
    isWanted,
    healthEveryMs,
    say,
  });
  const isRecording = () => exporter.isRecording;
  const { render } = createExposition({ readings, version: "0.0.0", api, isRecording });
  const ending = new AbortController();
  await readings.first().catch(() => {});
  const running = readings.run(ending.signal);
  const exporter = {
    readings,
    isRecording: true,
    scrape: render,
    stopReading: () => ending.abort(),
    async close() {
      await client.close();
      await running;
    },
  };
  return exporter;
}

/** Waits until a promise has settled, for at most some real milliseconds. */
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
