import { manualClock } from "../../../emulator";
import type { Diagnoses } from "../../../sdk/diagnosis/diagnosis";
import { EVERY_MS, explainWait, FIRST_AFTER_MS } from "../../../sdk/diagnosis/waits";
import { WaitTimeoutError } from "../../../sdk/jobs/jobHandle";
import { startEmulated } from "../../support/emulated";

const MINUTE = 60_000;

test("waiting ten minutes for 50 endpoints sends at most 20 requests a minute", async () => {
  await using emulated = await startEmulated({
    emulator: { profile: "observed", rateLimits: { management: "off", graphql: "off" }, workerQuota: 100 },
    client: { api: "v2", service: "runpod" },
  });
  const { client, emulator, run, clock } = emulated;
  emulator.faults.add({ match: { pool: "ADA_24" }, effect: { soldOut: true } });
  emulator.seed({
    endpoints: Array.from({ length: 50 }, (_, index) => ({
      id: `endpoint${index + 10}`,
      name: `e${index}`,
      templateId: "t",
      gpuIds: "ADA_24",
      workersMin: 1,
      workersMax: 1,
    })),
  });
  const waits = emulator.endpoints.list().map(({ id }) => explainWait(client.endpoints, clock, id, "workers"));
  emulator.journal.clear();
  const lines: string[] = [];
  const perMinute: number[] = [];
  for (let elapsedMs = 0; elapsedMs <= 10 * MINUTE; elapsedMs += 2000) {
    for (const wait of waits) lines.push(...[wait.look(elapsedMs) ?? []].flat());
    await run(clock.advance(2000));
    if (elapsedMs % MINUTE === 0) perMinute.push(emulator.journal.requests().length);
  }
  const requests = emulator.journal.requests();
  const inMinute = perMinute.map((count, index) => count - (perMinute[index - 1] ?? 0));
  expect(Math.max(...inMinute)).toBeLessThanOrEqual(20);
  // One diagnosis in 30 s, and each endpoint's turn comes once.
  const diagnosed = requests.filter(({ operation }) => operation === "getEndpoint").map(({ endpointId }) => endpointId);
  expect(diagnosed.length).toBe(20);
  expect(new Set(diagnosed).size).toBe(20);
  expect(requests.length).toBeLessThanOrEqual(200);
  expect(lines.length).toBeGreaterThanOrEqual(19);
  expect(new Set(lines)).toEqual(new Set([expect.stringContaining("sold out")]));
});

/** Returns diagnoses with these summaries, one after the other. */
function scripted(...summaries: string[]): Diagnoses & { readonly calls: number[] } {
  const calls: number[] = [];
  return {
    calls,
    async diagnose(endpointId, options) {
      calls.push(options?.waitedMs ?? -1);
      const summary = summaries[Math.min(calls.length, summaries.length) - 1] ?? "";
      const cause = {
        id: "cold-start" as const,
        words: summary,
        certainty: "likely" as const,
        advice: "Wait",
        passes: true,
      };
      return {
        endpointId,
        endpointName: "e",
        awaited: "jobs",
        causes: [cause],
        certainty: "likely",
        others: [],
        evidence: [],
        missing: [],
        lines: [],
        summary,
        madeAt: new Date(0),
      };
    },
  };
}

test("a wait of less than 30 s sends no request, and a new line is printed only when the cause changes", async () => {
  const clock = manualClock(0);
  const diagnoses = scripted("a", "a", "b");
  const wait = explainWait(diagnoses, clock, "e", "jobs");
  const lines: (string | undefined)[] = [];
  for (let elapsedMs = 0; elapsedMs < 4 * EVERY_MS; elapsedMs += 10_000) {
    lines.push(wait.look(elapsedMs));
    await clock.advance(10_000);
  }
  expect(diagnoses.calls).toEqual([FIRST_AFTER_MS, FIRST_AFTER_MS + EVERY_MS, FIRST_AFTER_MS + 2 * EVERY_MS]);
  expect(lines.filter((line) => line !== undefined)).toEqual(["a. Wait", "b. Wait"]);
  expect(wait.lastWords()).toContain("b. Wait");
  wait.end();
  expect(wait.look(10 * MINUTE)).toBeUndefined();
  expect(explainWait(diagnoses, clock, "other", "jobs").lastWords()).toContain("explain other");
});

test("a wait that has ended does not block the next diagnosis of another wait", async () => {
  const clock = manualClock(0);
  const diagnoses = scripted("a");
  const [first, second] = [explainWait(diagnoses, clock, "1", "jobs"), explainWait(diagnoses, clock, "2", "jobs")];
  expect([first.look(MINUTE), second.look(MINUTE)]).toEqual([undefined, undefined]);
  await clock.advance(EVERY_MS);
  first.look(MINUTE + EVERY_MS);
  first.end();
  second.look(MINUTE + EVERY_MS);
  expect(diagnoses.calls.length).toBe(2);
});

test("a failed diagnosis does not affect the wait", async () => {
  const clock = manualClock(0);
  const wait = explainWait({ diagnose: () => Promise.reject(new Error("no")) }, clock, "e", "jobs");
  wait.look(MINUTE);
  await clock.advance(EVERY_MS);
  expect(wait.look(MINUTE + EVERY_MS)).toBeUndefined();
});

test("with diagnose, the error of job.wait explains the cause, and all waits share one diagnosis for 30 s", async () => {
  await using emulated = await startEmulated({
    emulator: { profile: "observed" },
    client: { api: "v2", service: "runpod" },
  });
  const { client, emulator, run, failure, calls } = emulated;
  const fields = { templateId: "t", gpuIds: "ADA_24", workersMin: 0, workersMax: 0 };
  emulator.seed({
    endpoints: [
      { id: "offoffoff1", name: "off", ...fields },
      { id: "offoffoff2", name: "other", ...fields },
    ],
  });
  const job = await run(client.endpoint("offoffoff1").run({ input: {} }));
  const plain = await failure(job.wait({ timeoutMs: 1000 }));
  expect(plain.message).not.toContain("workersMax");
  expect(calls().filter((name) => name === "getEndpoint")).toEqual([]);
  const [error, same] = await Promise.all([
    failure(job.wait({ timeoutMs: 1000, diagnose: true })),
    failure(job.wait({ timeoutMs: 1000, diagnose: true })),
  ]);
  for (const each of [error, same]) {
    if (!(each instanceof WaitTimeoutError)) throw each;
    expect(each.diagnosis?.causes.map(({ id }) => id)).toEqual(["no-workers-allowed"]);
    expect(each.message).toContain("no worker can start, because its workersMax is 0 (certain)");
  }
  expect(calls().filter((name) => name === "getEndpoint").length).toBe(1);
  const other = await run(client.endpoint("offoffoff2").run({ input: {} }));
  const late = await failure(other.wait({ timeoutMs: 1000, diagnose: true }));
  expect(late.message).toContain("npx pulumi-serverless-gpu explain offoffoff2");
});
