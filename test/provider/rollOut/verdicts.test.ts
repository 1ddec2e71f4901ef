import * as fc from "fast-check";
import { seal, unseal } from "../../../provider/machine/seal";
import { rollOutProblems } from "../../../provider/rollOut/rollOutInputs";
import { countsSince, isOut as isReleaseOut, verdictOf, type Workers } from "../../../provider/rollOut/verdicts";

const WATCH = { seconds: 60, maxFailed: 0.05, minJobs: 20 };

describe("the watch", () => {
  test("the watch never judges a release by fewer jobs than minJobs", () => {
    fc.assert(
      fc.property(fc.nat(19), fc.nat(19), (completed, failed) => {
        fc.pre(completed + failed < 20);
        expect(verdictOf({ completed, failed }, WATCH, false)).toBe("open");
        expect(verdictOf({ completed, failed }, WATCH, true)).toBe("too few jobs");
      }),
    );
  });

  test("the watch fails a release when more than maxFailed jobs have failed, and passes one with exactly maxFailed", () => {
    expect(verdictOf({ completed: 94, failed: 6 }, WATCH, false)).toBe("failed");
    expect(verdictOf({ completed: 95, failed: 5 }, WATCH, false)).toBe("open");
    expect(verdictOf({ completed: 95, failed: 5 }, WATCH, true)).toBe("passed");
    expect(verdictOf({ completed: 0, failed: 20 }, { ...WATCH, maxFailed: 0 }, false)).toBe("failed");
  });

  test("the watch counts from zero after the service has reset its counts", () => {
    expect(countsSince({ completed: 100, failed: 7 }, { completed: 120, failed: 9 })).toEqual({
      completed: 20,
      failed: 2,
    });
    expect(countsSince({ completed: 100, failed: 7 }, { completed: 3, failed: 1 })).toEqual({
      completed: 3,
      failed: 1,
    });
  });
});

describe("a release is out", () => {
  const worker = (status: string | undefined, isStale: boolean | undefined) => ({ id: "w", status, isStale });
  const isOut = (seen: Omit<Workers, "ready">, needsReady: boolean, ready = 0) =>
    isReleaseOut({ ...seen, ready }, needsReady);

  test("once no worker is old and, unless a test follows, at least one worker is ready", () => {
    expect(isOut({ workers: [worker("RUNNING", true), worker("IDLE", false)], inQueue: 0 }, false)).toBe(false);
    expect(isOut({ workers: [worker("INITIALIZING", false)], inQueue: 0 }, false)).toBe(true);
    expect(isOut({ workers: [worker("INITIALIZING", false)], inQueue: 0 }, true)).toBe(false);
    expect(isOut({ workers: [worker("IDLE", false)], inQueue: 0 }, true)).toBe(true);
  });

  test("according to the queue's counts if the service does not report worker states", () => {
    expect(isOut({ workers: [worker(undefined, false)], inQueue: 0 }, true)).toBe(false);
    expect(isOut({ workers: [worker(undefined, false)], inQueue: 0 }, true, 1)).toBe(true);
  });

  test("without waiting for workers if no job is waiting", () => {
    expect(isOut({ workers: [], inQueue: 0 }, true)).toBe(true);
    expect(isOut({ workers: [], inQueue: 1 }, true)).toBe(false);
  });
});

test("the previous settings can be read only with the same key, and reveal nothing without it", () => {
  const sealed = seal("key-1", { env: { HF_TOKEN: "env-canary-41d0" } });
  expect(sealed).not.toContain("canary");
  expect(Buffer.from(sealed, "base64").toString("latin1")).not.toContain("canary");
  expect(unseal("key-1", sealed)).toEqual({ env: { HF_TOKEN: "env-canary-41d0" } });
  expect([unseal("key-2", sealed), unseal("key-1", "x"), unseal("key-1", undefined)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("a preview refuses a rollout that cannot work, and suggests an alternative", () => {
  const problems = (rollOut: unknown, others = {}) =>
    rollOutProblems({ imageName: "me:1", rollOut, ...others }).map(({ property, message }) => `${property} ${message}`);
  expect(problems({ test: { input: {} }, watch: { seconds: 60, maxFailed: 0.01 } })).toEqual([]);
  expect(problems({ test: { input: {} } }, { imageName: "", templateId: "t1" })).toEqual([
    expect.stringMatching(/^rollOut needs imageName: .*SmokeTest.*blue-green/),
  ]);
  expect(problems({ watch: { seconds: 60 } }, { type: "LOAD_BALANCER" })).toEqual([
    expect.stringMatching(/^rollOut.watch counts jobs/),
  ]);
  expect(problems({ watch: {}, onFailure: "retry", tests: 1 })).toHaveLength(3);
  expect(problems({ watch: { seconds: 60, maxFailed: 1, minJobs: 0 } })).toHaveLength(2);
  expect(problems({ test: { prompt: "x" } })).toEqual([
    expect.stringContaining("rollOut.test.input"),
    expect.stringContaining("rollOut.test.prompt"),
  ]);
  expect(problems({ test: { input: {}, triggers: [] } })).toHaveLength(1);
});
