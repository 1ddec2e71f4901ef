import fc from "fast-check";
import { workersWanted } from "../../../emulator/workers/scaling";
import { scalingInWords } from "../../../emulator/workers/scalingWords";

const record = { scalerType: "REQUEST_COUNT", scalerValue: 2, workersMin: 0, workersMax: 3 } as const;

test.each([
  [{}, [4, 0, 2], "wanted 3 = ceil((4 waiting + 2 in progress) / 2), at most 3"],
  [{}, [9, 0, 2], "wanted 3 = ceil((9 waiting + 2 in progress) / 2) = 6, at most 3"],
  [{ workersMin: 1 }, [0, 0, 0], "wanted 1 = ceil((0 waiting + 0 in progress) / 2) = 0, at least 1, at most 3"],
  [{ scalerType: "QUEUE_DELAY" }, [2, 0, 0], "wanted 1 = 1 for the first of 2 waiting, at most 3"],
  [{ scalerType: "QUEUE_DELAY" }, [2, 1, 1], "wanted 2 = 1 in progress + 1 waiting for 2 s or longer, at most 3"],
] as const)("settings %j with job counts %j are explained as: %s", (more, [waiting, overdue, inProgress], words) => {
  expect(scalingInWords({ ...record, ...more }, { waiting, overdue, inProgress })).toBe(words);
});

/** Computes the result of a line of arithmetic, independently of the scaler. */
function computed(line: string): number {
  const [, sum = "", least = "0", most = ""] =
    /^wanted \d+ = (.*?)(?: = \d+)?(?:, at least (\d+))?, at most (\d+)$/.exec(line) ?? [];
  const arithmetic = sum
    .replace(/ for the first of .*/, "")
    .replace(/ waiting for [\d.]+ s or longer/, "")
    .replaceAll(/ waiting| in progress/g, "")
    .replace("ceil", "Math.ceil");
  expect(arithmetic).toMatch(/^[\d+ ()./Mathceil]+$/);
  return Math.min(Number(most), Math.max(Number(least), Number(new Function(`return ${arithmetic}`)())));
}

test("the explanation in words always gives the number of workers that the scaler requests", () => {
  const size = fc.nat({ max: 50 });
  const fields = fc.record({
    scalerType: fc.constantFrom("REQUEST_COUNT" as const, "QUEUE_DELAY" as const),
    scalerValue: fc.constantFrom(0.5, 1, 2, 2.5, 4, 10),
    workersMin: size,
    more: size,
  });
  const demand = fc.record({ waiting: size, overdue: size, inProgress: size });
  fc.assert(
    fc.property(fields, demand, ({ more, ...given }, load) => {
      const scaled = { ...given, workersMax: given.workersMin + more };
      const line = scalingInWords(scaled, { ...load, overdue: Math.min(load.overdue, load.waiting) });
      const wanted = workersWanted(scaled, { ...load, overdue: Math.min(load.overdue, load.waiting) });
      expect(line.startsWith(`wanted ${wanted} = `)).toBe(true);
      expect(computed(line)).toBe(wanted);
    }),
  );
});
