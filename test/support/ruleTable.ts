import { readFileSync } from "node:fs";
import { type RuleTable, renderTable, testedRows } from "../../tools/ruleTables.js";

/** Declares the tests that hold for every table of rules. */
export function testRuleTable(table: RuleTable): void {
  const tested = testedRows(table);

  test("the table has a test for every row", () => {
    expect(Object.keys(table.rows).filter((id) => !tested.has(id))).toEqual([]);
  });

  test("the table has a row for every id that a test names", () => {
    expect([...tested.keys()].filter((id) => !Object.hasOwn(table.rows, id))).toEqual([]);
  });

  test("the table is up to date in the documents (npm run docs:tables)", () => {
    expect(readFileSync(table.file, "utf8")).toBe(renderTable(table));
  });
}
