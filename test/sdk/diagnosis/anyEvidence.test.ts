import fc from "fast-check";
import type { StockLevel } from "../../../sdk/catalog/record";
import { CAUSES, type CauseId } from "../../../sdk/diagnosis/causes";
import { decideCauses } from "../../../sdk/diagnosis/decide";
import type { Evidence, Part } from "../../../sdk/diagnosis/evidence";
import {
  ENDPOINT,
  gpu,
  LIMITS,
  log,
  MINUTE,
  NONE,
  NOW,
  part,
  queue,
  refusal,
  rollout,
  START,
  stock,
  workers,
} from "../../support/diagnosisEvidence";

/** What the service itself must show before a cause may be certain. */
const SHOWN: Partial<Record<CauseId, (given: Evidence) => boolean>> = {
  "not-found": ({ endpoint, queue: of }) => "why" in endpoint && "why" in of,
  "no-access": ({ endpoint, queue: of }) => "why" in endpoint && "why" in of,
  "no-queue": ({ queue: of }) => "why" in of,
  "no-workers-allowed": ({ endpoint }) => "value" in endpoint && endpoint.value.workersMax === 0,
  "workers-busy": ({ workers: of, endpoint }) =>
    "value" in of && of.value.isListed && "value" in endpoint && of.value.running === endpoint.value.workersMax,
  "crash-loop": ({ logs }) => "value" in logs,
  "image-pull": ({ logs }) => "value" in logs,
  "image-pulling": ({ logs }) => "value" in logs,
};

const count = fc.integer({ min: 0, max: 3 });
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<Part<T>> =>
  fc.oneof(
    value.map((each) => part(each)),
    fc.record({
      why: fc.constant("no"),
      failure: fc.constantFrom(undefined, refusal("absent"), refusal("refused"), refusal("no queue")),
    }),
  );
const anyWorkers = fc
  .record({ running: count, idle: count, initializing: count, throttled: count, unhealthy: count, stale: count })
  .chain((counts) =>
    fc
      .record({
        startingMs: fc.option(fc.integer({ min: 0, max: 20 * MINUTE }), { nil: undefined }),
        isListed: fc.boolean(),
      })
      .map((more) => workers({ ...counts, ...more })),
  );
const LINES = [
  START,
  "error pulling image: manifest unknown",
  "Downloading",
  "Traceback (most recent call last):",
  "Finished.",
  "hello",
];
const anyLog = fc
  .array(
    fc.tuple(fc.constantFrom("system", "container"), fc.constantFrom(...LINES), fc.integer({ min: 0, max: 9000 })),
    { maxLength: 8 },
  )
  .map((lines) => log(...lines));
const level = fc.constantFrom<StockLevel>("High", "Low", "None");
const anyEvidence: fc.Arbitrary<Evidence> = fc.record({
  awaited: fc.constantFrom("jobs" as const, "workers" as const, "stop" as const),
  waitedMs: fc.option(fc.integer({ min: 0, max: 20 * MINUTE }), { nil: undefined }),
  now: fc.constant(NOW),
  endpoint: optional(
    fc
      .record({ workersMin: count, workersMax: count, isLoadBalancer: fc.boolean() })
      .map((each) => ({ ...ENDPOINT, ...each })),
  ),
  listed: optional(fc.boolean()),
  volumes: fc.constant(NONE),
  workers: optional(anyWorkers),
  rollout: optional(fc.boolean().map((inProgress) => ({ ...rollout, inProgress }))),
  queue: optional(
    fc
      .tuple(count, count, anyWorkers)
      .map(([inQueue, inProgress, of]) => ({ ...queue(inQueue, inProgress), workers: { ...of, isListed: false } })),
  ),
  stock: optional(level.map((each) => stock([gpu(each)]))),
  limits: optional(count.map((spend) => ({ ...LIMITS, spend, spendLimit: 2, workersUsed: 8 + spend }))),
  logs: fc.oneof(fc.constant<Part<never>>(NONE), anyLog),
});

test("for any evidence, no cause is reported with more certainty than its row allows, and a certain cause is backed by evidence", () => {
  const order = ["certain", "likely", "possible", "unknown"];
  fc.assert(
    fc.property(anyEvidence, (given) => {
      const { causes, others, certainty } = decideCauses(given);
      expect(causes.length).toBeGreaterThan(0);
      expect(certainty).toBe(causes[0]?.certainty);
      for (const { id, certainty: sure } of [...causes, ...others]) {
        expect(order.indexOf(sure)).toBeGreaterThanOrEqual(order.indexOf(CAUSES[id].atMost));
        if (sure === "certain") expect([id, SHOWN[id]?.(given)]).toEqual([id, true]);
      }
      const ids = [...causes, ...others].map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
    }),
    { numRuns: 2000 },
  );
});
