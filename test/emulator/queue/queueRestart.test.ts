import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Emulator, type EmulatorOptions, type ManualClock, manualClock, startEmulator } from "../../../emulator";
import { send } from "../../support/plainClient";

const second = 1000;
const minute = 60 * second;

let folder: string;
let running: Emulator[];
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "queue-restart-"));
  running = [];
});
afterEach(async () => {
  for (const emulator of running) await emulator.stop();
  rmSync(folder, { recursive: true });
});

const seed = {
  endpoints: [{ id: "ep", name: "worker", gpuIds: "AMPERE_16", templateId: "t", workersMin: 1, workersMax: 1 }],
};

async function start(dataFile: string, clock: ManualClock, handlers: EmulatorOptions["handlers"]) {
  const emulator = await startEmulator({
    profile: "contract",
    seed,
    dataFile: path.join(folder, dataFile),
    clock,
    handlers,
    coldStartMs: 0,
  });
  running.push(emulator);
  await clock.advance(0);
  const headers = { authorization: emulator.apiKey, "content-type": "application/json" };
  const call = async (method: string, operation: string, body?: object) => {
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    return (await send(`${emulator.url}/v2/ep/${operation}`, init)).body;
  };
  return { emulator, call };
}

/** Copies the data file, as a process that is killed at this moment leaves it. */
function crashImage(name: string): string {
  copyFileSync(path.join(folder, "data.json"), path.join(folder, name));
  return name;
}

test("acknowledged jobs survive a crash, and ended jobs keep their results", async () => {
  const clock = manualClock();
  const runs: unknown[] = [];
  const worker: NonNullable<EmulatorOptions["handlers"]>[string] = async ({ input }, { sleep }) => {
    runs.push(input.n);
    await sleep(10 * second);
    if (input.fail) throw new Error("on purpose");
    return { doubled: (input.n as number) * 2 };
  };
  const before = await start("data.json", clock, { worker });
  const submit = async (input: object) => (await before.call("POST", "run", { input })).id as string;
  const completed = await submit({ n: 1 });
  const failed = await submit({ n: 2, fail: true });
  await clock.advance(20 * second);
  const [inProgress, waiting] = [await submit({ n: 3 }), await submit({ n: 4 })];
  await clock.advance(5 * second);
  const image = crashImage("after-crash.json");

  runs.length = 0;
  const afterClock = manualClock(clock.now() + minute);
  const after = await start(image, afterClock, { worker });
  expect(await after.call("GET", `status/${completed}`)).toMatchObject({ status: "COMPLETED", output: { doubled: 2 } });
  expect(await after.call("GET", `status/${failed}`)).toMatchObject({ status: "FAILED", error: "on purpose" });
  expect((await after.call("GET", "health")).jobs).toMatchObject({ completed: 1, failed: 1, retried: 0 });
  await afterClock.advance(20 * second);
  for (const [id, doubled] of [
    [inProgress, 6],
    [waiting, 8],
  ]) {
    expect(await after.call("GET", `status/${id}`)).toMatchObject({ status: "COMPLETED", output: { doubled } });
  }
  expect([...runs].sort()).toEqual([3, 4]);
  const { id } = await after.call("POST", "run", { input: { n: 5 } });
  expect([completed, failed, inProgress, waiting]).not.toContain(id);
});

test("jobs that expire before a restart are gone afterwards", async () => {
  const clock = manualClock();
  const before = await start("data.json", clock, { worker: () => "done" });
  const { id: ended } = await before.call("POST", "run", { input: { n: 1 } });
  await clock.advance(second);
  const { id: kept } = await before.call("POST", "run", { input: { n: 1 } });
  await clock.advance(second);
  const image = crashImage("later.json");
  const after = await start(image, manualClock(clock.now() + 30 * minute - second - 1), {});
  expect((await after.call("GET", `status/${ended}`)).status).toBe(404);
  expect((await after.call("GET", `status/${kept}`)).status).toBe("COMPLETED");
});

test("a restarted emulator continues its queue where it stopped", async () => {
  const clock = manualClock();
  const before = await start("data.json", clock, { worker: ({ input }) => input.n });
  const { id } = await before.call("POST", "run", { input: { n: 7 } });
  await clock.advance(0);
  await before.emulator.stop();
  const after = await start("data.json", clock, {});
  expect(await after.call("GET", `status/${id}`)).toMatchObject({ status: "COMPLETED", output: 7 });
});

test("an unread stream can be read after a restart", async () => {
  const clock = manualClock();
  const worker = function* () {
    yield "a";
    yield "b";
  };
  const before = await start("data.json", clock, { worker });
  const { id } = await before.call("POST", "run", { input: { n: 1 } });
  await clock.advance(0);
  await before.call("GET", `status/${id}`);
  const after = await start(crashImage("stream.json"), clock, {});
  const items: { output: string }[] = await after.call("GET", `stream/${id}`);
  expect(items.map(({ output }) => output)).toEqual(["a", "b"]);
});

test("days without jobs are still counted after a restart", async () => {
  const day = 24 * 60 * minute;
  const clock = manualClock();
  const before = await start("data.json", clock, {});
  await before.call("POST", "run", { input: { n: 1 } });
  const image = crashImage("idle.json");
  const after = await start(image, manualClock(clock.now() + 7 * day), {});
  expect(after.emulator.endpoints.get("ep")).toMatchObject({ workersMax: 0 });
});
