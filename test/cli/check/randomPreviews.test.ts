import fc from "fast-check";
import { FORMS, type Form, previewOf, reviewed, step } from "./previews";

// Random previews, whose costs and verdicts are calculated again here, with nothing of the command.

/** US dollars a second for one GPU, from RunPod's price list of 2026-06-08. */
const SECOND: Readonly<Record<string, number>> = {
  AMPERE_16: 0.00016,
  AMPERE_24: 0.00019,
  ADA_24: 0.00031,
  AMPERE_80: 0.00076,
  HOPPER_141: 0.00155,
};

interface Values {
  readonly pools: readonly string[];
  readonly gpuCount: number;
  readonly workersMin: number;
  readonly workersMax: number;
}

interface Change {
  readonly op: "create" | "update" | "delete" | "replace" | "same";
  readonly old: Values;
  readonly now: Values;
  readonly isRetained: boolean;
}

const values: fc.Arbitrary<Values> = fc
  .record({
    pools: fc.uniqueArray(fc.constantFrom(...Object.keys(SECOND)), { minLength: 1, maxLength: 3 }),
    gpuCount: fc.integer({ min: 1, max: 4 }),
    counts: fc.tuple(fc.nat(3), fc.nat(6)),
  })
  .map(({ counts: [one, other], ...rest }) => ({
    ...rest,
    workersMin: Math.min(one, other),
    workersMax: Math.max(one, other),
  }));
const change: fc.Arbitrary<Change> = fc.record({
  op: fc.constantFrom("create", "update", "delete", "replace", "same"),
  old: values,
  now: values,
  isRetained: fc.boolean(),
});

/** The dearest pool, for each GPU of each worker, in a hundred thousandth of a dollar a second. */
function costOf({ pools, gpuCount }: Values, workers: number): number {
  const dearest = Math.max(...pools.map((pool) => Math.round((SECOND[pool] as number) * 100_000)));
  return (dearest * gpuCount * workers * 36) / 1000;
}

/**
 * Returns what the whole program costs an hour before and after the changes, and whether one is a
 * danger.
 */
function calculated(changes: readonly Change[]) {
  const sum = { before: [0, 0], after: [0, 0] } as Record<"before" | "after", [number, number]>;
  const count = (side: "before" | "after", of: Values) => {
    sum[side][0] += costOf(of, of.workersMax);
    sum[side][1] += costOf(of, of.workersMin);
  };
  let isDanger = false;
  for (const { op, old, now, isRetained } of changes) {
    if (op !== "create") count("before", old);
    if (op === "same") count("after", old);
    else if (op !== "delete") count("after", now);
    // What stays at the service costs what it cost before.
    if ((op === "delete" || op === "replace") && isRetained) count("after", old);
    const goes = (op === "delete" || op === "replace") && !isRetained;
    const stops = (op === "update" || op === "replace") && old.workersMax > 0 && now.workersMax === 0;
    isDanger ||= goes || stops;
  }
  return { ...sum, isDanger };
}

/** Writes the changes as a preview. No two endpoints look alike, so none counts as renamed. */
function written(changes: readonly Change[], form: Form): string {
  const inputs = ({ pools, ...counts }: Values, side: string, at: number) => ({
    ...counts,
    name: `${side}-${at}`,
    gpuIds: pools.join(","),
    templateId: `template-${side}-${at}`,
    idleTimeout: at * 2 + (side === "old" ? 1 : 2),
    scalerValue: at * 2 + (side === "old" ? 1 : 2),
    executionTimeoutMs: at * 2 + (side === "old" ? 1001 : 1002),
  });
  return previewOf(
    changes.map(({ op, old, now, isRetained }, at) =>
      step(op, `llama-${at}`, {
        ...(op !== "create" && { old: { ...inputs(old, "old", at), id: `e${at}` } }),
        ...(op !== "delete" && { inputs: op === "same" ? inputs(old, "old", at) : inputs(now, "new", at) }),
        retainOnDelete: isRetained && (op === "delete" || op === "replace"),
        form,
      }),
    ),
  );
}

test.each(
  Object.keys(FORMS) as Form[],
)("21 random previews in the %s form cost what an independent calculation says, and have its verdict", async (form) => {
  const seen = { dangers: 0, endpoints: 0 };
  const property = fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
    const { code, stdout } = await reviewed(written(changes, form), { json: true });
    const { cost } = JSON.parse(stdout);
    const expected = calculated(changes);
    for (const side of ["before", "after"] as const) {
      expect(cost[side].fullScale).toBeCloseTo(expected[side][0], 8);
      expect(cost[side].atRest).toBeCloseTo(expected[side][1], 8);
    }
    expect(code).toBe(expected.isDanger ? 4 : 0);
    seen.dangers += expected.isDanger ? 1 : 0;
    seen.endpoints += changes.length;
    const cap = expected.after[0] - 0.001;
    if (cap > 0) {
      const capped = await reviewed(written(changes, form), { maxPerHour: cap });
      expect(capped.code).toBe(expected.isDanger ? 4 : 3);
    }
  });
  await fc.assert(property, { numRuns: 21, seed: 61 });
  expect(seen.endpoints).toBeGreaterThan(40);
  expect(seen.dangers).toBeGreaterThan(5);
  expect(seen.dangers).toBeLessThan(20);
});
