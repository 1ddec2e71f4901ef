import { DATA_SOURCE_OPERATIONS, SMOKE_TEST_OPERATIONS } from "../faults/dataSourceOperations";
import { ENDPOINT_OPERATIONS } from "../faults/endpointOperations";
import { cellsOf, playAll, titleOf } from "../faults/matrix";

/** The rest, three times and for ever, and the faults that take long, is for `npm run test:faults`. */
const OPERATIONS = ["create", "update", "read", "delete", "smoke test", "getEndpoint", "getPod"];
const LONG_FAULTS = /hang|hour|slow/;

test("one fault, at any step, doubles nothing, loses nothing and changes nothing that it should not", async () => {
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
