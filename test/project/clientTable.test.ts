import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { REPOSITORY } from "../support/sources";

const document = readFileSync(path.join(REPOSITORY, "docs/client.md"), "utf8");
const rows = document
  .slice(document.indexOf("## Compared with other clients"))
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| |"));

const folder = path.join(REPOSITORY, "test/sdk");
const tests = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => readFileSync(path.join(folder, file), "utf8"))
  .join("\n");

describe("the table of clients", () => {
  test("the table of clients contains rows", () => expect(rows.length).toBeGreaterThan(10));

  test.each(
    rows.map((row) => [row.split("|")[1]?.trim(), row.split("|")[2] ?? ""]),
  )("the table of clients names an existing test for: %s", (_, ours) => {
    const title = /"([^"]+)"/.exec(ours)?.[1];
    expect(title).toBeDefined();
    expect(tests.includes(`${title}"`)).toBe(true);
  });
});
