import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { readLoad } from "../../../cli/forecast/load/readLoad";
import { readRecording } from "../../../cli/forecast/load/recording";
import { type IntervalRecorder, openRecorder } from "../../../cli/metrics/recorder";
import { seededRandom } from "../../../emulator/model/random";
import { openRecording } from "../../../sdk/recording/recording";
import { startPlay } from "../../support/play";

const HOUR_MS = 3_600_000;
const STEP_MS = 10_000;
const KILLS = 10;
const SECRET = "planted-secret-77aa";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "recorded-day-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const endpoint = { id: "e1", name: "llama", templateId: "t", gpuIds: "ADA_24", workersMax: 10 };
const textOf = () =>
  readdirSync(folder)
    .map((name) => readFileSync(path.join(folder, name), "utf8"))
    .join("");

test("a recorded day contains every arrival of the journal in its hour, although the recorder was killed ten times", async () => {
  const { next } = seededRandom(7);
  const env = [{ key: "HF_TOKEN", value: SECRET }];
  await using play = await startPlay({
    api: "v2",
    healthEveryMs: 30_000,
    emulator: {
      seed: { endpoints: [{ ...endpoint, env }] },
      coldStartMs: 20_000,
      randomSeed: 1,
      handlers: {
        default: async (
          _: unknown,
          { sleep, log, random }: { sleep(ms: number): Promise<void>; log(line: string): void; random(): number },
        ) => {
          await sleep(5000 + random() * 10_000);
          log(SECRET);
          if (random() < 0.1) throw new Error(SECRET);
          return SECRET;
        },
      },
    },
  });
  let recorder: IntervalRecorder | undefined = openRecorder(folder, play.readings, "", () => {});
  play.readings.onRound(() => recorder?.look());
  // The first line begins the count.
  await play.advance(60_000);
  const steps = (24 * HOUR_MS) / STEP_MS;
  const killSteps = new Set(Array.from({ length: KILLS }, (_, kill) => Math.floor(((kill + next()) * steps) / KILLS)));
  let [kills, submits] = [0, 0];
  for (let step = 0; step < steps; step++) {
    // A sine over the day, 140 to 340 jobs an hour.
    const perStep = ((240 + 100 * Math.sin((2 * Math.PI * step) / steps)) * STEP_MS) / HOUR_MS;
    if (next() < perStep) {
      await play.submit("e1", { prompt: SECRET });
      submits += 1;
    }
    if (killSteps.has(step)) {
      kills += 1;
      recorder = undefined;
      const [last = ""] = readdirSync(folder).slice(-1);
      if (kills % 2 === 0) appendFileSync(path.join(folder, last), '{"v":1,"kind":"interval","by":"metr');
    } else recorder ??= openRecorder(folder, play.readings, "", () => {});
    await play.advance(STEP_MS);
  }
  await play.advance(2 * 60_000);
  const hourOf = (ms: number) => Math.floor((ms - Date.UTC(2026, 0, 5)) / HOUR_MS);
  const count = (times: Iterable<number>) => {
    const hours = Array.from({ length: 25 }, () => 0);
    for (const at of times) if (hourOf(at) < 25) hours[hourOf(at)] = (hours[hourOf(at)] ?? 0) + 1;
    return hours;
  };
  const journal = count(play.emulator.journal.requests({ operation: "run" } as never).map(({ at }) => at));
  const { jobs, description } = readRecording(folder, "llama", { fromS: 8, toS: 8 });
  const recorded = count([...jobs].map(({ arrivalS }) => arrivalS * 1000));
  const worst = Math.max(
    ...journal.slice(0, 24).map((arrivals, hour) => Math.abs(arrivals - (recorded[hour] ?? 0)) / arrivals),
  );
  process.stdout.write(
    `${submits} jobs, ${kills} kills, worst hour differs by ${(worst * 100).toFixed(2)} %; ${description}\n`,
  );
  expect(kills).toBe(KILLS);
  expect(worst).toBeLessThanOrEqual(0.01);
  const total = (hours: readonly number[]) => hours.reduce((sum, each) => sum + each, 0);
  expect(total(recorded)).toBe(total(journal));
  expect(textOf() + (await play.scrape())).not.toContain(SECRET);
  const load = readLoad(folder, { fromS: 8, toS: 8 });
  expect(load.description).toContain("recording: arrivals of");
  load.close();
  expect(() => readLoad(folder, undefined)).toThrow("set --duration");
}, 600_000);

test("recording stops with a message when the disk is full, and the metrics are still served", async () => {
  await using play = await startPlay({ api: "graphql", emulator: { seed: { endpoints: [endpoint] } } });
  const messages: string[] = [];
  const recorder = openRecorder(folder, play.readings, "", (message) => messages.push(message));
  play.readings.onRound(() => recorder.look());
  await play.advance(2 * 60_000);
  recorder.close();
  rmSync(folder, { recursive: true });
  await play.advance(5 * 60_000);
  expect([recorder.isRecording, messages]).toEqual([false, [expect.stringContaining("recording has stopped")]]);
  expect(await play.scrape()).toContain("serverless_gpu_endpoint_jobs{");
});

test("an unwritable folder is refused at startup", async () => {
  const file = path.join(folder, "a-file");
  appendFileSync(file, "");
  await using play = await startPlay({ api: "graphql", emulator: {} });
  expect(() => openRecorder(path.join(file, "folder"), play.readings, "", () => {})).toThrow("cannot be written");
});

test("two recorders that share a folder count no job twice", async () => {
  await using play = await startPlay({ api: "graphql", emulator: { seed: { endpoints: [endpoint] } } });
  const recorders = [1, 2].map(() => openRecorder(folder, play.readings, "", () => {}));
  for (const recorder of recorders) play.readings.onRound(recorder.look);
  for (let job = 0; job < 30; job++) {
    await play.submit("e1");
    await play.advance(17_000);
  }
  const { jobs } = readRecording(folder, undefined, { fromS: 1, toS: 1 });
  const count = [...jobs].length;
  expect([count > 20, count <= 30]).toEqual([true, true]);
});

test("recording continues after the clock was set back, and counts no job twice", async () => {
  await using play = await startPlay({ api: "graphql", emulator: { seed: { endpoints: [endpoint] } } });
  const ahead = play.emulator.clock.now() + 26 * HOUR_MS;
  const to = new Date(ahead).toISOString();
  const earlier = openRecording(folder, "metrics", { measured: [], notMeasured: {} });
  earlier.append(
    { kind: "interval", by: "metrics", at: to, endpoints: [{ id: "e1", name: "llama", to, totals: [0, 0, 0, 0] }] },
    ahead,
  );
  earlier.close();
  const recorder = openRecorder(folder, play.readings, "", () => {});
  play.readings.onRound(recorder.look);
  await play.advance(2 * 60_000);
  for (let job = 0; job < 30; job++) {
    await play.submit("e1");
    await play.advance(10_000);
  }
  await play.advance(2 * 60_000);
  const { jobs } = readRecording(folder, undefined, { fromS: 1, toS: 1 });
  const arrivals = [...jobs].map(({ arrivalS }) => arrivalS * 1000);
  expect(arrivals).toHaveLength(30);
  expect(Math.max(...arrivals)).toBeLessThanOrEqual(play.emulator.clock.now());
});
