import {
  decided,
  evidence,
  gpu,
  LIMITS,
  log,
  part,
  queue,
  rollout,
  START,
  stock,
  workers,
} from "../../support/diagnosisEvidence";

test("the cause to fix first is listed first", () => {
  const isSoldOut = part(stock([gpu("None")]));
  expect(decided(evidence({ stock: isSoldOut, limits: part({ ...LIMITS, spend: 80, workersUsed: 11 }) }))).toEqual({
    causes: ["worker-quota"],
    certainty: "likely",
    others: ["spend-limit", "no-stock"],
  });
  const crashes = log(["system", START], ["system", START, 5], ["system", START, 10]);
  const off = evidence({ settings: { workersMax: 0 }, workers: part(workers({ initializing: 1 })), logs: crashes });
  expect(decided(off)).toEqual({ causes: ["no-workers-allowed"], certainty: "certain", others: ["crash-loop"] });
  const rolling = { workers: part(workers({ initializing: 1, running: 1, stale: 1 })), rollout: part(rollout) };
  expect(decided(evidence({ ...rolling, queue: part(queue(1, 1)), logs: crashes }))).toMatchObject({
    causes: ["crash-loop"],
    certainty: "likely",
    others: ["rollout"],
  });
});
