import { DATA_SOURCE_OPERATIONS, SMOKE_TEST_OPERATIONS } from "./dataSourceOperations";
import { ENDPOINT_OPERATIONS } from "./endpointOperations";
import { type Cell, cellsOf, playAll } from "./matrix";
import { overV2 } from "./overV2";
import { RECORD_OPERATIONS } from "./recordOperations";
import { report } from "./report";

/** They spend most of their time waiting. */
const SITES = Number(process.env.FAULTS_SITES ?? 44);

/** Longer than it takes on any machine. */
const LONG_MS = 6 * 3_600_000;

const ORDER = (process.env.FAULTS_ONLY ?? "").split(",").filter((name) => name !== "");

const MANAGEMENT = [...ENDPOINT_OPERATIONS, ...RECORD_OPERATIONS];

/** Returns the cells that were asked for, the slow ones first. */
function ordered(cells: readonly Cell[]): Cell[] {
  const isSlow = (fault: string, times?: number) => Number(/hang|hour/.test(fault)) + Number(times === undefined);
  return cells
    .filter(({ operation }) => ORDER.length === 0 || ORDER.includes(operation.name))
    .sort((one, other) => isSlow(other.fault.name, other.times) - isSlow(one.fault.name, one.times));
}

test(
  "every fault, at every step of every operation",
  async () => {
    const cells = cellsOf([...MANAGEMENT, ...SMOKE_TEST_OPERATIONS, ...DATA_SOURCE_OPERATIONS]);
    expect(report("fault-matrix", await playAll(ordered(cells), SITES, { name: "fault-matrix" }))).toEqual([]);
  },
  LONG_MS,
);

test(
  "every fault, at every step of every operation over REST v2",
  async () => {
    const cells = ordered(cellsOf(overV2(MANAGEMENT)));
    expect(report("fault-matrix-v2", await playAll(cells, SITES, { api: "v2", name: "fault-matrix-v2" }))).toEqual([]);
  },
  LONG_MS,
);
