import { readFileSync } from "node:fs";
import { fidelity } from "../../../emulator/model/fidelity";
import { renderTable, TABLE_FILE, testedRows } from "../../../tools/fidelityTable.js";

const tested = testedRows(fidelity);

describe("the fidelity table", () => {
  test("has a test for every row", () => {
    expect(Object.keys(fidelity).filter((id) => !tested.has(id))).toEqual([]);
  });

  test("has a row for every one that a test names", () => {
    expect([...tested.keys()].filter((id) => !Object.hasOwn(fidelity, id))).toEqual([]);
  });

  test("is up to date in the documents (npm run docs:fidelity)", () => {
    expect(readFileSync(TABLE_FILE, "utf8")).toBe(renderTable(fidelity, tested));
  });
});
