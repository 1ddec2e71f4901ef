import {
  CLEAN,
  decided,
  evidence,
  log,
  part,
  queue,
  rollout,
  START,
  starting,
  workers,
} from "../../support/diagnosisEvidence";

// Workers that end take no job, and the newest lines of a log decide.

const OLD_LIBRARY = "--- Starting Serverless Worker |  Version 1.7.13 ---";
const NEW_LIBRARY = "--- Starting Serverless Worker |  Version 1.11.0 ---";

test.each([
  ["a busy and an idle worker", { running: 1, idle: 1 }, 1],
  ["an idle worker", { idle: 1 }, 0],
  ["a throttled worker", { throttled: 1 }, 0],
])("with workersMax 0, %s that remains explains nothing", (_title, counts, inProgress) => {
  const given = evidence({
    settings: { workersMax: 0 },
    workers: part(workers(counts)),
    queue: part(queue(5, inProgress, counts)),
    logs: log(["system", START], ["container", OLD_LIBRARY, 1]),
  });
  expect(decided(given)).toEqual({ causes: ["no-workers-allowed"], certainty: "certain", others: [] });
});

test("an idle worker of an old version gets no jobs, so no single worker takes all of them", () => {
  const given = evidence({
    workers: part(workers({ running: 1, idle: 1, stale: 1, staleReady: 1 })),
    queue: part(queue(4, 1, { running: 1, idle: 1 })),
    rollout: part(rollout),
    logs: log(["system", START], ["container", OLD_LIBRARY, 1]),
  });
  expect(decided(given)).toMatchObject({ causes: ["rollout"], others: [] });
});

test("a throttled worker of an old version does not hide that the idle one takes no jobs", () => {
  const given = evidence({
    workers: part(workers({ idle: 1, throttled: 1, stale: 1, staleReady: 0 })),
    queue: part(queue(3, 0, { idle: 1, throttled: 1 })),
    logs: log(["system", START, -300], ["container", "Listening on port 8000", -299]),
  });
  expect(decided(given)).toMatchObject({ causes: ["handler-takes-no-jobs"], certainty: "likely" });
});

test.each([
  ["old", [NEW_LIBRARY, OLD_LIBRARY], "likely"],
  ["new", [OLD_LIBRARY, NEW_LIBRARY], undefined],
])("the version of the library that was printed last decides: %s", (_title, [first = "", last = ""], certainty) => {
  const given = evidence({
    workers: part(workers({ running: 1, idle: 1 })),
    queue: part(queue(4, 1, { running: 1, idle: 1 })),
    logs: log(["system", START], ["container", first, 1], ["system", START, 2], ["container", last, 3]),
  });
  const { causes, certainty: said } = decided(given);
  expect(causes[0] === "one-worker-takes-all" ? said : undefined).toBe(certainty);
});

test("a failed pull after a start is likely, because the start was of another image", () => {
  const given = evidence({
    workers: starting,
    logs: log(["system", START], ["container", NEW_LIBRARY, 1], ["system", "error pulling image: manifest unknown", 9]),
  });
  expect(decided(given)).toMatchObject({ causes: ["image-pull"], certainty: "likely" });
});

test.each([
  [1, "nothing-wrong"],
  [2, "no-job-waits"],
])("while nothing waits, %d throttled workers: %s", (throttled, cause) => {
  const given = evidence({
    ...CLEAN,
    workers: part(workers({ throttled })),
    queue: part(queue(0)),
    logs: part([]),
    rollout: part({ ...rollout, inProgress: false }),
  });
  expect(decided(given)).toMatchObject({ causes: [cause], certainty: "likely" });
});
