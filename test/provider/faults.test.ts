import { DATA_SOURCE_OPERATIONS, SMOKE_TEST_OPERATIONS } from "../faults/dataSourceOperations";
import { ENDPOINT_OPERATIONS } from "../faults/endpointOperations";
import { cellsOf, playAll, titleOf } from "../faults/matrix";

/**
 * `npm run test:faults` plays the other counts (three times, indefinitely) and the faults that take
 * long.
 */
const OPERATIONS = ["create", "update", "read", "delete", "smoke test", "getEndpoint", "getPod"];
const LONG_FAULTS = /hang|hour|slow/;

test("a single fault at any step causes no duplicate, no lost record and no unwanted change", async () => {
  const cells = cellsOf([...ENDPOINT_OPERATIONS, ...SMOKE_TEST_OPERATIONS, ...DATA_SOURCE_OPERATIONS]).filter(
    ({ operation, fault, times }) =>
      OPERATIONS.includes(operation.name) && !LONG_FAULTS.test(fault.name) && times === 1,
  );
  const results = await playAll(cells, 6);
  expect(results).toHaveLength(cells.length);
  expect(results.flatMap(({ cell, problems }) => problems.map((problem) => `${titleOf(cell)}: ${problem}`))).toEqual(
    [],
  );
  expect(results.some(({ error }) => error !== undefined)).toBe(true);
}, 300_000);
