import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Emulator, type ManualClock, manualClock, startEmulator } from "../../../emulator";
import { createEndpoint, graphql, send } from "../../support/plainClient";

/** A clock whose date somebody can set, as on any machine. */
function settableClock(): { clock: ManualClock; setBack(ms: number): void } {
  const clock = manualClock(Date.UTC(2026, 0, 2));
  let offset = 0;
  return {
    clock: { ...clock, now: () => clock.now() + offset },
    setBack(ms) {
      offset -= ms;
    },
  };
}

const HOUR_MS = 3_600_000;

async function ask({ url, apiKey }: Emulator, path: string, input?: unknown) {
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  const method = input === undefined ? "GET" : "POST";
  return send(`${url}/v2/${path}`, {
    method,
    headers,
    ...(input !== undefined && { body: JSON.stringify({ input }) }),
  });
}

const handlers = { default: async (_: unknown, { sleep }: { sleep(ms: number): Promise<void> }) => sleep(60_000) };

test("setting the clock back hides no endpoint, and lags, limits and the journal keep using the time that has really passed", async () => {
  const { clock, setBack } = settableClock();
  await using emulator = await startEmulator({ profile: "contract", clock, drainMs: 0 });
  const id = await createEndpoint(emulator);
  for (let n = 0; n < 2; n += 1) expect((await ask(emulator, `${id}/purge-queue`, {})).status).toBe(200);
  expect((await ask(emulator, `${id}/purge-queue`, {})).status).toBe(429);
  setBack(HOUR_MS);
  const { body } = await graphql(emulator, "{ myself { endpoints { id } } }");
  expect(body.data.myself.endpoints).toEqual([{ id }]);
  await clock.advance(10_000);
  expect((await ask(emulator, `${id}/purge-queue`, {})).status).toBe(200);
  setBack(-2 * HOUR_MS);
  expect(emulator.journal.requests().map(({ durationMs }) => (durationMs ?? -1) >= 0)).not.toContain(false);
});

test.each([HOUR_MS, -HOUR_MS])("setting the clock back by %d ms does not affect job times or scaling", async (ms) => {
  const { clock, setBack } = settableClock();
  await using emulator = await startEmulator({ profile: "contract", clock, coldStartMs: 0, handlers });
  const id = await createEndpoint(emulator, 'scalerType: "QUEUE_DELAY", scalerValue: 4, workersMax: 2');
  const jobs = [(await ask(emulator, `${id}/run`, {})).body.id, (await ask(emulator, `${id}/run`, {})).body.id];
  await clock.advance(1_000);
  setBack(ms);
  await clock.advance(1_000);
  const running = (await ask(emulator, `${id}/status/${jobs[0]}`)).body;
  expect(running.status).toBe("IN_PROGRESS");
  expect(running.delayTime + running.executionTime).toBe(2_000);
  await clock.advance(4_000);
  expect((await ask(emulator, `${id}/status/${jobs[1]}`)).body.status).toBe("IN_PROGRESS");
  await clock.advance(60_000);
  const ended = (await ask(emulator, `${id}/status/${jobs[0]}`)).body;
  expect([ended.status, ended.executionTime]).toEqual(["COMPLETED", 60_000]);
});

test("a clock that was set back before a restart moves no time in the data file into the future", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "emulator-clock-"));
  const dataFile = path.join(folder, "state.json");
  const { clock, setBack } = settableClock();
  const first = await startEmulator({ profile: "contract", clock, coldStartMs: 60_000, dataFile });
  const id = await createEndpoint(first);
  const job = (await ask(first, `${id}/run`, {})).body.id;
  await first.stop();
  // Times in the file are dates.
  expect(JSON.parse(readFileSync(dataFile, "utf8")).endpoints[0].runtime.jobs[0].submittedAt).toBe(clock.now());
  setBack(HOUR_MS);
  await using second = await startEmulator({ profile: "contract", clock, coldStartMs: 60_000, dataFile });
  await clock.advance(1_000);
  expect((await ask(second, `${id}/status/${job}`)).body).toMatchObject({ status: "IN_QUEUE", delayTime: 1_000 });
  rmSync(folder, { recursive: true });
});
