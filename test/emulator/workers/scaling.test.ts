import { workersWanted } from "../../../emulator/workers/scaling";

const record = { scalerValue: 4, workersMin: 0, workersMax: 10 };

describe("REQUEST_COUNT", () => {
  const wanted = (waiting: number, inProgress: number, more = {}) =>
    workersWanted({ ...record, scalerType: "REQUEST_COUNT", ...more }, { waiting, overdue: 0, inProgress });

  test.each([
    [0, 0, 0],
    [1, 0, 1],
    [4, 0, 1],
    [4, 1, 2],
    [0, 9, 3],
    [1000, 0, 10],
  ])("%d waiting jobs and %d jobs in progress require %d workers", (waiting, inProgress, expected) => {
    expect(wanted(waiting, inProgress)).toBe(expected);
  });

  test("REQUEST_COUNT never requests fewer than workersMin or more than workersMax workers", () => {
    expect(wanted(0, 0, { workersMin: 2 })).toBe(2);
    expect(wanted(100, 0, { workersMax: 0 })).toBe(0);
  });

  test("REQUEST_COUNT treats a scalerValue below 1 as 1", () => {
    expect(wanted(3, 0, { scalerValue: 0 })).toBe(3);
  });
});

describe("QUEUE_DELAY", () => {
  const wanted = (waiting: number, overdue: number, inProgress: number, more = {}) =>
    workersWanted({ ...record, scalerType: "QUEUE_DELAY", ...more }, { waiting, overdue, inProgress });

  test.each([
    [0, 0, 0, 0],
    [5, 0, 0, 1],
    [5, 0, 1, 1],
    [5, 2, 1, 3],
    [99, 99, 1, 10],
  ])("%d waiting jobs, %d of them overdue, and %d jobs in progress require %d workers", (waiting, overdue, inProgress, expected) => {
    expect(wanted(waiting, overdue, inProgress)).toBe(expected);
  });

  test("QUEUE_DELAY never requests fewer than workersMin workers", () => {
    expect(wanted(0, 0, 0, { workersMin: 3 })).toBe(3);
  });
});
