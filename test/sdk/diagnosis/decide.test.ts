import { CAUSE_IDS, type CauseId } from "../../../sdk/diagnosis/causes";
import { ACCESS } from "../../diagnosis/states/access";
import { CAPACITY } from "../../diagnosis/states/capacity";
import { CONTAINERS } from "../../diagnosis/states/containers";
import { WORK } from "../../diagnosis/states/work";
import { decided } from "../../support/diagnosisEvidence";
import { ROWS } from "./decisions";
import { PLAYS } from "./plays";

test.each(ROWS)("%s", (_title, given, causes, certainty) => {
  expect(decided(given)).toMatchObject({ causes, certainty });
});

test("every cause is expected by a row of decisions.ts", () => {
  const expected = new Set(ROWS.flatMap(([, , causes]) => causes));
  expect(CAUSE_IDS.filter((id) => !expected.has(id))).toEqual([]);
});

test("every cause is the truth in a state of test/diagnosis, or is named with the reason why not", () => {
  const without: Partial<Record<CauseId, string>> = {
    "jobs-running": "the states await jobs, not the end of a drain",
    "workers-stopping": "the states await jobs, not the end of a drain",
    unknown: "it is no truth",
  };
  const truths = new Set([...ACCESS, ...CAPACITY, ...CONTAINERS, ...WORK].flatMap(({ truth }) => truth));
  expect(CAUSE_IDS.filter((id) => truths.has(id) === id in without)).toEqual([]);
});

test("every cause that has something to do has a play in followedAdvice, or is named with the reason why not", () => {
  const without: Partial<Record<CauseId, string>> = {
    "not-found": "its refresh is played in test/provider/followedAdvice/records",
    "no-access": "a key is changed in the service's console",
    "handler-takes-no-jobs": "the worker program is changed",
    "one-worker-takes-all": "the worker program is changed",
    rollout: "it passes",
    "scaling-rule": "it passes",
    "jobs-running": "it passes",
    "jobs-failing": "the worker program is changed",
    "workers-stopping": "it passes",
    "no-queue": "the caller is changed",
    "nothing-wrong": "there is nothing to do",
    "no-job-waits": "there is nothing to do",
    unknown: "there is nothing to do",
  };
  const played = new Set<string>(PLAYS.map(({ cause }) => cause));
  expect(CAUSE_IDS.filter((id) => played.has(id) === id in without)).toEqual([]);
});
