import fc from "fast-check";
import type { StockLevel } from "../../../sdk/catalog/record";
import type { CauseId } from "../../../sdk/diagnosis/causes";
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
  "not-found": ({ endpoint, listed }) => "why" in endpoint && "value" in listed && !listed.value,
  "no-access": ({ endpoint, queue: of }) => "why" in endpoint || "why" in of,
  "no-queue": ({ queue: of, endpoint }) => "why" in of || ("value" in endpoint && endpoint.value.isLoadBalancer),
  "no-workers-allowed": ({ endpoint }) => "value" in endpoint && endpoint.value.workersMax === 0,
  "spend-limit": ({ limits }) => "value" in limits && limits.value.isUnderBalance === true,
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
      .record({ startingMs: fc.option(fc.integer({ min: 0, max: 20 * MINUTE }), { nil: undefined }) })
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
  secrets: optional(fc.constantFrom({ missing: [] }, { missing: ["token"] })),
  workers: optional(anyWorkers),
  rollout: optional(fc.boolean().map((inProgress) => ({ ...rollout, inProgress }))),
  queue: optional(
    fc
      .tuple(count, count, anyWorkers)
      .map(([inQueue, inProgress, of]) => ({ ...queue(inQueue, inProgress), workers: of })),
  ),
  stock: optional(level.map((each) => stock([gpu(each)]))),
  limits: optional(
    fc
      .tuple(count, fc.boolean())
      .map(([spend, isUnderBalance]) => ({ ...LIMITS, spend, spendLimit: 2, workersUsed: 8 + spend, isUnderBalance })),
  ),
  logs: fc.oneof(fc.constant<Part<never>>(NONE), anyLog),
});

test("for any evidence, only what the service states is certain, and calm follows only from an empty queue", () => {
  fc.assert(
    fc.property(anyEvidence, (given) => {
      const { causes, others, certainty } = decideCauses(given);
      expect(causes.length).toBeGreaterThan(0);
      expect(certainty).toBe(causes[0]?.certainty);
      for (const { id, certainty: sure } of [...causes, ...others])
        if (sure === "certain") expect([id, SHOWN[id]?.(given)]).toEqual([id, true]);
      const ids = [...causes, ...others].map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      if (given.awaited !== "jobs" || !ids.includes("nothing-wrong")) return;
      const { queue: of, rollout: release, endpoint } = given;
      expect("value" in of && of.value.inQueue + of.value.workers.unhealthy).toBe(0);
      expect("value" in release && release.value.inProgress).toBe(false);
      expect("value" in endpoint && endpoint.value.isLoadBalancer).toBe(false);
      const { workers, logs } = given;
      expect("value" in workers && (workers.value.total === 0 || "value" in logs)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});
