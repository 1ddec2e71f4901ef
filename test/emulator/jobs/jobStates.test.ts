import fc from "fast-check";
import {
  apply,
  canHappen,
  DEFAULT_POLICY,
  forgottenAt,
  hasEnded,
  type Job,
  type JobEvent,
  jobRecord,
  newJob,
  recovered,
} from "../../../emulator/jobs/jobStates";
import { JOB_STATES } from "../../../sdk/contract/enums";

const minute = 60_000;
const request = { input: { a: 1 }, policy: DEFAULT_POLICY };
const job = (more: Partial<Job> = {}): Job => ({ ...newJob("job-1", "run", request, 0), ...more });

const EVENTS: Record<JobEvent["type"], JobEvent> = {
  start: { type: "start", workerId: "w" },
  progress: { type: "progress", output: 1 },
  complete: { type: "complete", output: 1 },
  fail: { type: "fail", error: "no" },
  exceedExecutionTimeout: { type: "exceedExecutionTimeout" },
  loseWorker: { type: "loseWorker" },
  loseJob: { type: "loseJob" },
  timeOut: { type: "timeOut" },
  cancel: { type: "cancel" },
  retry: { type: "retry" },
};

/** Every allowed transition. All others must be refused. */
const TRANSITIONS = [
  ["IN_QUEUE", "start", "IN_PROGRESS"],
  ["IN_QUEUE", "cancel", "CANCELLED"],
  ["IN_PROGRESS", "progress", "IN_PROGRESS"],
  ["IN_PROGRESS", "complete", "COMPLETED"],
  ["IN_PROGRESS", "fail", "FAILED"],
  ["IN_PROGRESS", "exceedExecutionTimeout", "FAILED"],
  ["IN_PROGRESS", "loseWorker", "IN_QUEUE"],
  ["IN_PROGRESS", "loseJob", "IN_QUEUE"],
  ["IN_PROGRESS", "timeOut", "TIMED_OUT"],
  ["IN_PROGRESS", "cancel", "CANCELLED"],
  ["FAILED", "retry", "IN_QUEUE"],
  ["TIMED_OUT", "retry", "IN_QUEUE"],
] as const;

describe.each(JOB_STATES)("a job that is %s", (status) => {
  test.each(Object.keys(EVENTS) as JobEvent["type"][])("%s", (type) => {
    const expected = TRANSITIONS.find(([from, event]) => from === status && event === type)?.[2];
    expect(canHappen(job({ status }), type)).toBe(expected !== undefined);
    if (expected) expect(apply(job({ status }), EVENTS[type], 5).status).toBe(expected);
    else expect(() => apply(job({ status }), EVENTS[type], 5)).toThrow(`job-1 is ${status}`);
  });
});

test("a second lost worker fails the job, and a retry resets the count", () => {
  const lose = (current: Job) => apply(apply(current, EVENTS.start, 1), EVENTS.loseWorker, 2);
  const failed = lose(lose(job()));
  expect(failed).toMatchObject({ status: "FAILED", retries: 1, error: "job timed out after 1 retries" });
  expect(lose(apply(failed, EVENTS.retry, 3))).toMatchObject({ status: "IN_QUEUE", retries: 1 });
});

test("an event does not modify the job object to which it is applied", () => {
  const before = Object.freeze(job());
  apply(before, EVENTS.start, 5);
  expect(before).toEqual(job());
});

test("a retry clears the result of the previous run", () => {
  const failed = apply(apply(apply(job(), EVENTS.start, 10), EVENTS.progress, 11), EVENTS.fail, 20);
  expect(jobRecord(apply(failed, EVENTS.retry, 30), 35, "observed")).toEqual({
    id: "job-1",
    status: "IN_QUEUE",
    delayTime: 5,
    executionTime: 0,
  });
});

test("a result is deleted after its retention, or after the ttl if that is sooner", () => {
  const ended = (more: Partial<Job>) => forgottenAt(job({ status: "COMPLETED", endedAt: 10 * minute, ...more }));
  expect(ended({})).toBe(40 * minute);
  expect(ended({ retentionMs: minute })).toBe(11 * minute);
  expect(ended({ ttlMs: 15 * minute })).toBe(15 * minute);
  expect(forgottenAt(job())).toBe(24 * 60 * minute);
});

test("only a job in progress is queued again when the emulator restarts, and this does not count as a retry", () => {
  expect(recovered(job({ status: "IN_PROGRESS", startedAt: 1 }), 9)).toMatchObject({ status: "IN_QUEUE", retries: 0 });
  const completed = job({ status: "COMPLETED", output: 1 });
  expect(recovered(completed, 9)).toBe(completed);
});

test("job times never go backward, and an ended job always has an end time", () => {
  const events = fc.array(fc.record({ event: fc.constantFrom(...Object.values(EVENTS)), after: fc.nat(1000) }));
  fc.assert(
    fc.property(events, (steps) => {
      let [current, now] = [job(), 0];
      for (const { event, after } of steps) {
        now += after;
        if (canHappen(current, event.type)) current = apply(current, event, now);
        const { delayTime, executionTime } = jobRecord(current, now, "contract") as Record<string, number>;
        expect(delayTime).toBeGreaterThanOrEqual(0);
        expect(executionTime).toBeGreaterThanOrEqual(0);
        expect(current.endedAt !== undefined).toBe(hasEnded(current));
        expect(current.submittedAt).toBe(0);
      }
    }),
  );
});
