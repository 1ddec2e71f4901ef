import { CAUSE_IDS, type CauseId } from "../../../sdk/diagnosis/causes";
import { decideCauses } from "../../../sdk/diagnosis/decide";
import type { Evidence } from "../../../sdk/diagnosis/evidence";
import { PROOFS } from "../../../sdk/diagnosis/rules";
import {
  CLEAN,
  decided,
  ENDPOINT,
  evidence,
  gone,
  LIMITS,
  NONE,
  part,
  queue,
  refusal,
  refused,
  rollout,
  workers,
} from "../../support/diagnosisEvidence";

const UNREAD = { workers: NONE, queue: NONE };
const isBalanced = { settings: { isLoadBalancer: true }, queue: part(queue(0)) };

/** Evidence with the proof of each cause. */
const PROVEN: Partial<Record<CauseId, Evidence>> = {
  "not-found": evidence({ ...UNREAD, endpoint: gone }),
  "no-access": evidence({ ...UNREAD, endpoint: refused }),
  "no-workers-allowed": evidence({ settings: { workersMax: 0 } }),
  "spend-limit": evidence({ ...CLEAN, limits: part({ ...LIMITS, isUnderBalance: true }) }),
  "no-queue": evidence(isBalanced),
};

/** The same evidence without its proof, or with other evidence that contradicts it. */
const DOUBTED: readonly (readonly [CauseId, string, Evidence])[] = [
  ["not-found", "the list could not be read", evidence({ ...UNREAD, endpoint: gone, listed: { why: "no response" } })],
  ["not-found", "the list contains it", evidence({ ...UNREAD, endpoint: gone, listed: part(true) })],
  ["not-found", "its workers are shown", evidence({ ...UNREAD, endpoint: gone, workers: part(workers()) })],
  ["not-found", "its release is shown", evidence({ ...UNREAD, endpoint: gone, rollout: part(rollout) })],
  ["not-found", "its queue is shown", evidence({ ...UNREAD, endpoint: gone, queue: part(queue(0)) })],
  ["no-access", "its workers are shown", evidence({ ...UNREAD, endpoint: refused, workers: part(workers()) })],
  ["no-access", "it does not exist", evidence({ ...UNREAD, endpoint: gone, queue: refused })],
  [
    "no-access",
    "a gateway may have refused it",
    evidence({ ...UNREAD, endpoint: { why: "403", failure: refusal("refused", false) } }),
  ],
  ["no-workers-allowed", "one worker is allowed", evidence({ settings: { workersMax: 1 } })],
  ["spend-limit", "the account only spends its limit", evidence({ ...CLEAN, limits: part({ ...LIMITS, spend: 80 }) })],
  [
    "no-queue",
    "its settings show a queue",
    evidence({ endpoint: part(ENDPOINT), queue: { why: "400", failure: refusal("no queue") } }),
  ],
];

test("exactly the causes with a proof can be certain, and each is certain with its proof", () => {
  expect(Object.keys(PROOFS).sort()).toEqual(Object.keys(PROVEN).sort());
  for (const id of CAUSE_IDS.filter((each) => PROOFS[each]))
    expect([id, decided(PROVEN[id] as Evidence)]).toMatchObject([id, { causes: [id], certainty: "certain" }]);
});

test.each(DOUBTED)("%s is not certain if %s", (id, _, given) => {
  expect(PROOFS[id]?.[1](given)).toBe(false);
  const { causes, others } = decideCauses(given);
  expect([...causes, ...others].filter((each) => each.certainty === "certain" && each.id === id)).toEqual([]);
});
