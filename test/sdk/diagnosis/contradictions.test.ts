import fc from "fast-check";
import { CAUSES, type CauseId } from "../../../sdk/diagnosis/causes";
import { CONTRADICTIONS } from "../../../sdk/diagnosis/contradictions";
import { decideCauses } from "../../../sdk/diagnosis/decide";
import { type Evidence, seen } from "../../../sdk/diagnosis/evidence";
import {
  aged,
  decided,
  ENDPOINT,
  evidence,
  gone,
  log,
  NONE,
  NOW,
  part,
  queue,
  refusal,
  refused,
  rollout,
  START,
  starting,
  workers,
} from "../../support/diagnosisEvidence";

const busyEvidence = evidence({ workers: part(workers({ running: 3 })), queue: part(queue(5, 3, { running: 3 })) });

/** Evidence with which each cause is certain. */
const CERTAIN: Partial<Record<CauseId, Evidence>> = {
  "not-found": evidence({ endpoint: gone, queue: gone, workers: NONE }),
  "no-access": evidence({ endpoint: refused, queue: refused, workers: NONE }),
  "no-queue": evidence({ settings: { isLoadBalancer: true }, queue: { why: "400", failure: refusal("no queue") } }),
  "no-workers-allowed": evidence({ settings: { workersMax: 0 } }),
  "crash-loop": evidence({
    workers: starting,
    logs: log(["system", START], ["system", START, 5], ["system", START, 9]),
  }),
  "image-pull": evidence({ workers: starting, logs: log(["system", "error pulling image: manifest unknown"]) }),
  "image-pulling": evidence({ workers: starting, logs: log(["system", "Pulling app:1"]) }),
  "workers-busy": busyEvidence,
};

/** How each contradiction can be seen beside other evidence. */
const SEEN: Readonly<Record<string, (given: Evidence, count: number) => Partial<Evidence>>> = {
  "part of the evidence is old": (given, count) => ({
    endpoint: aged(given.endpoint, 30_000 + count * 1000),
    workers: aged(given.workers, 30_000 + count * 1000),
    queue: aged(given.queue, 30_000 + count * 1000),
  }),
  "the list of endpoints contains it": () => ({ listed: part(true) }),
  "the list of endpoints could not be read": () => ({ listed: { why: "no response" } }),
  "the service shows its workers or releases": (_, count) =>
    count > 1 ? { workers: part(workers()) } : { rollout: part({ ...rollout, inProgress: false }) },
  "a release is newer than the log": (_, count) => ({
    rollout: part({ ...rollout, ...(count > 1 && { releasedAt: new Date(NOW - 1000).toISOString() }) }),
  }),
  "another worker's log shows that the program runs": (given) => ({
    logs: part([...(seen(given.logs) ?? []), ...(seen(log(["system", START], ["container", "Started."])) ?? [])]),
  }),
  "another worker's log shows that it has the image": (given, count) => ({
    logs: part([
      ...(seen(given.logs) ?? []),
      ...(seen(log(["system", count > 1 ? START : "Status: Downloaded newer image"])) ?? []),
    ]),
  }),
  "a rollout is in progress": () => ({ rollout: part(rollout) }),
  "the service has accepted the same key for another read": (_, count) => ({ workers: part(workers({ idle: count })) }),
  "its settings show a queue": () => ({ endpoint: part(ENDPOINT) }),
  "a worker starts": (_, count) =>
    count > 1
      ? { workers: part(workers({ initializing: 1 })) }
      : { workers: NONE, queue: part(queue(1, 0, { initializing: 1 })) },
  "a job is in progress": (_, count) => ({ queue: part(queue(1, count)) }),
  "a worker is idle, so it has started": (_, count) => ({ queue: part(queue(1, 0, { idle: count })) }),
  "a worker is idle, so it has the image": (_, count) => ({ queue: part(queue(1, 0, { idle: count })) }),
  "a worker is idle": (_, count) => ({ queue: part(queue(5, 3, { running: 3, idle: count })) }),
  "a worker is unhealthy": (_, count) => ({ workers: part(workers({ initializing: 1, unhealthy: count })) }),
  "the queue reports a different number of running workers": (_, count) => ({
    queue: part(queue(5, 3, { running: count > 1 ? 2 : 5 })),
  }),
  "a worker is starting, is not working, or is in an unknown state": (_, count) =>
    count > 1
      ? { queue: part(queue(5, 3, { running: 3, unhealthy: 1 })) }
      : { workers: part({ ...workers({ running: 3 }), total: 4 }) },
};

test("every cause that can be certain is certain when its evidence is present, and names evidence that contradicts it", () => {
  const surest = (Object.keys(CAUSES) as CauseId[]).filter((id) => CAUSES[id].atMost === "certain");
  expect(Object.keys(CERTAIN).sort()).toEqual([...surest].sort());
  for (const id of surest) {
    expect([id, decided(CERTAIN[id] as Evidence)]).toMatchObject([id, { causes: [id], certainty: "certain" }]);
    expect([id, CONTRADICTIONS[id]?.length ?? 0]).not.toEqual([id, 0]);
  }
});

test("no cause stays certain if evidence contradicts it", () => {
  const cases = (Object.keys(CERTAIN) as CauseId[]).flatMap((id) =>
    (CONTRADICTIONS[id] ?? []).map(({ says }) => ({ id, says })),
  );
  fc.assert(
    fc.property(fc.constantFrom(...cases), fc.integer({ min: 1, max: 2 }), ({ id, says }, amount) => {
      const given = CERTAIN[id] as Evidence;
      const { causes, others } = decideCauses({ ...given, ...(SEEN[says] as (typeof SEEN)[string])(given, amount) });
      const sure = [...causes, ...others].find((each) => each.id === id)?.certainty;
      expect([id, says, sure]).not.toEqual([id, says, "certain"]);
    }),
    { numRuns: 500 },
  );
});
