import { spawn } from "node:child_process";
import { type Emulator, type ManualClock, manualClock, startEmulator } from "../../emulator";
import { COMPILE_CACHE } from "../support/compiledCode";
import { ended, MAIN } from "./command";

const HOUR_MS = 3_600_000;

let emulator: Emulator;
let clock: ManualClock;

beforeEach(async () => {
  clock = manualClock(Date.UTC(2026, 9, 10));
  emulator = await startEmulator({ profile: "observed", coldStartMs: 0, drainMs: 0, clock });
  const both = { templateId: "t", gpuIds: "AMPERE_16" };
  emulator.endpoints.create({ ...both, id: "abc", name: "llama", workersMin: 2, workersMax: 2 });
  emulator.endpoints.create({ ...both, id: "def", name: "whisper", workersMin: 1, workersMax: 1 });
  await clock.advance(24 * HOUR_MS);
});
afterEach(() => emulator.stop());

const spend = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  ended(
    spawn(process.execPath, [MAIN, "spend", ...args], {
      env: { ...process.env, ...COMPILE_CACHE, ...emulator.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    }),
  );

test("the endpoints are listed with their names, the most expensive first, over both APIs", async () => {
  emulator.endpoints.delete("def");
  const month = ["--month", "2026-10"];
  const { code, stdout } = await spend(month);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `2026-10-01 to 2026-11-01, exclusive (newest bucket 2026-10-10T00:00:00.000Z)
llama      abc  $27.84  48.0 h
(deleted)  def  $13.92  24.0 h
in all          $41.76
`,
  });
  const bill = JSON.parse((await spend([...month, "--json", "--api", "v2"])).stdout);
  expect(bill).toMatchObject({ amount: expect.closeTo(41.76), currency: "USD", from: "2026-10-01T00:00:00.000Z" });
  expect(bill.endpoints).toEqual([
    { id: "abc", name: "llama", amount: expect.closeTo(27.84) },
    { id: "def", amount: expect.closeTo(13.92) },
  ]);
  const other = JSON.parse((await spend(["--month", "2026-09", "--json"])).stdout);
  expect(other).toMatchObject({ amount: 0, endpoints: [] });
});

test("an endpoint whose name cannot be read is not called deleted", async () => {
  emulator.faults.add({ match: { operation: "listEndpoints" }, effect: { status: 403 } });
  const { code, stdout, stderr } = await spend(["--month", "2026-10", "--api", "v2"]);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^\(unknown\) {2}abc {2}\$27.84$/m)]);
  expect(stderr).toContain("the names of the endpoints cannot be read: ");
});

test("a month that is none is refused, and a service that does not answer is an error", async () => {
  const wrong = await spend(["--month", "2026-13"]);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("It must be a month, such as 2026-10.")]);
  emulator.faults.add({ effect: { status: 403 } });
  expect(await spend([])).toMatchObject({ code: 1, stdout: "" });
});
