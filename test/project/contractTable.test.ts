import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { JOB_STATES, POD_STATES, RATE_LIMITS } from "../../sdk/contract/limits";
import { ENDPOINT_FIELDS } from "../../sdk/endpoints/fields";
import { healthSchema, jobSchema, purgeSchema } from "../../sdk/jobs/jobRecord";
import { POD } from "../support/podRecord";
import { REPOSITORY } from "../support/sources";

const read = (file: string) => readFileSync(path.join(REPOSITORY, file), "utf8");

/** The rows of all tables of the document, without their heads. */
const rows = read("docs/contract.md")
  .split("\n")
  .filter((line) => line.startsWith("|") && !/^\|[\s|-]+$|^\| Contract /.test(line))
  .map((line) => line.split(/\s*\|\s*/).slice(1, -1));

describe("the table of the contract", () => {
  test.each(rows)("%s: the function and the test exist", (...row) => {
    expect(row).toHaveLength(3);
    const [what, where, testedBy] = row as [string, string, string];
    expect(what).not.toBe("");
    const [, name, source] = /^`(\w+)` in `(sdk\/[\w/]+\.ts)`$/.exec(where) ?? [];
    expect(read(source ?? "")).toMatch(new RegExp(`\\b${name}\\b`));
    const [, file = "", title = ""] = /^`(test\/[\w/]+\.test\.ts)`: (.+)$/.exec(testedBy) ?? [];
    expect(existsSync(path.join(REPOSITORY, file))).toBe(true);
    expect(read(file)).toContain(`"${title}"`);
  });

  /** Names of the contract that the client knows, each of which needs a row. */
  const names = [
    ...Object.keys(RATE_LIMITS).map((operation) => `/${operation}`),
    ...JOB_STATES,
    ...POD_STATES,
    ...ENDPOINT_FIELDS.map((field) => `Endpoint \`${field}\``),
    ...["id", "status", "delayTime", "executionTime", "output"].map((field) => `Job \`${field}\``),
    ...Object.keys(healthSchema.shape.jobs.shape).map((field) => `jobs.${field}`),
    ...["idle", "running"].map((field) => `workers.${field}`),
    ...Object.keys(purgeSchema.shape),
    ...Object.keys(POD).map((field) => `Pod \`${field}\``),
    ...Object.keys(POD.gpu).map((field) => `GPU \`${field}\``),
    ...Object.keys(POD.machine).map((field) => `Machine \`${field}\``),
  ];

  test.each(names)("has a row for %s", (name) => {
    expect(rows.some(([what]) => what?.includes(name))).toBe(true);
  });

  test("leaves out only those of a job's fields that the contract does not have", () => {
    const missing = Object.keys(jobSchema.shape).filter((field) => !rows.some(([what]) => what === `Job \`${field}\``));
    expect(missing).toEqual(["error", "retries", "workerId"]);
  });
});
