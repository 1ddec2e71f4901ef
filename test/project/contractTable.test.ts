import { JOB_STATES, POD_STATES } from "../../sdk/contract/enums";
import { RATE_LIMITS } from "../../sdk/contract/limits";
import { fieldsAt } from "../../sdk/endpoints/fields";
import { healthSchema, jobSchema, purgeSchema } from "../../sdk/jobs/jobRecord";
import { contract } from "../../tools/contractRows.js";
import { contractTable } from "../../tools/ruleTables.js";
import { POD } from "../support/podRecord";
import { testRuleTable } from "../support/ruleTable";

/** Fields that the client reads although the contract does not have them. */
const NOT_IN_CONTRACT = ["error", "retries", "workerId"];

describe("the table of the contract", () => {
  testRuleTable(contractTable(contract));

  /** Returns whether a row about the subject names the word, as code. */
  const hasRow = (subject: string, word: string) =>
    Object.values(contract).some(({ rule }) => rule.startsWith(subject) && rule.includes(`\`${word}\``));

  /** Names of the contract that the client knows, by the subject that begins their rows. */
  const names: Record<string, readonly string[]> = {
    Rate: Object.keys(RATE_LIMITS).map((operation) => (operation === "openai" ? "/openai/*" : `/${operation}`)),
    "Job state": JOB_STATES,
    "Pod states": POD_STATES,
    "Endpoint:": fieldsAt(undefined),
    "Job:": Object.keys(jobSchema.shape).filter((field) => !NOT_IN_CONTRACT.includes(field)),
    "Health:": [
      ...Object.keys(healthSchema.shape.jobs.shape).map((field) => `jobs.${field}`),
      ...["idle", "running"].map((field) => `workers.${field}`),
    ],
    "Purge result:": Object.keys(purgeSchema.shape),
    "Pod:": Object.keys(POD),
    "GPU:": Object.keys(POD.gpu),
    "Machine:": Object.keys(POD.machine),
  };

  test.each(
    Object.entries(names).flatMap(([subject, words]) => words.map((word) => [subject, word] as const)),
  )("%s contains a row for %s", (subject, word) => expect(hasRow(subject, word)).toBe(true));

  test("the table of the contract leaves out the fields that are not in the contract", () => {
    expect(NOT_IN_CONTRACT.filter((field) => hasRow("Job:", field))).toEqual([]);
  });
});
