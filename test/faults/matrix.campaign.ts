import { DATA_SOURCE_OPERATIONS, SMOKE_TEST_OPERATIONS } from "./dataSourceOperations";
import { ENDPOINT_OPERATIONS } from "./endpointOperations";
import { cellsOf, playAll } from "./matrix";
import { RECORD_OPERATIONS } from "./recordOperations";
import { report } from "./report";

/** Waiting is most of what they do. */
const SITES = Number(process.env.FAULTS_SITES ?? 44);

const ORDER = (process.env.FAULTS_ONLY ?? "").split(",").filter((name) => name !== "");

test("every fault, at every step of every operation", async () => {
  const cells = cellsOf([
    ...ENDPOINT_OPERATIONS,
    ...RECORD_OPERATIONS,
    ...SMOKE_TEST_OPERATIONS,
    ...DATA_SOURCE_OPERATIONS,
  ]).filter(({ operation }) => ORDER.length === 0 || ORDER.includes(operation.name));
  const isSlow = (fault: string, times?: number) => Number(/hang|hour/.test(fault)) + Number(times === undefined);
  cells.sort((one, other) => isSlow(other.fault.name, other.times) - isSlow(one.fault.name, one.times));
  const results = await playAll(cells, SITES);
  expect(report("fault-matrix", results)).toEqual([]);
}, 3_600_000);
