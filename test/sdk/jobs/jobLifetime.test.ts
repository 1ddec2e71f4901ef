import { expiresAt, expiryOf, jobLifetime } from "../../../sdk/jobs/jobLifetime";

const MINUTE = 60_000;
const submitted = { submittedAt: 0, ttlMs: 60 * MINUTE, retentionMs: 30 * MINUTE };

describe("a job's lifetime", () => {
  test("a job's lifetime ends with the ttl, or with the retention of a result that the client has seen", () => {
    expect(expiresAt(submitted)).toBe(60 * MINUTE);
    expect(expiresAt({ ...submitted, endedAt: 10 * MINUTE })).toBe(40 * MINUTE);
    expect(expiresAt({ ...submitted, endedAt: 50 * MINUTE })).toBe(60 * MINUTE);
  });

  test("the lifetime of a job that someone else submitted is unknown until the job is seen to have ended", () => {
    expect(expiresAt(jobLifetime({}))).toBeUndefined();
    expect(expiresAt(jobLifetime({ endedAt: 5 * MINUTE }))).toBe(35 * MINUTE);
    expect(expiresAt(jobLifetime({ submittedAt: 0 }))).toBe(24 * 60 * MINUTE);
  });

  test.each([
    ["its ttl has expired", submitted, 61 * MINUTE, { reason: "ttl", at: 60 * MINUTE }],
    [
      "its result's retention has expired",
      { ...submitted, endedAt: 0 },
      31 * MINUTE,
      { reason: "retention", at: 30 * MINUTE },
    ],
    [
      "it had ended before it was seen so",
      { ...submitted, endedAt: 9 * MINUTE },
      38 * MINUTE,
      { reason: "retention", at: 38 * MINUTE },
    ],
    ["it may have ended unseen", submitted, 31 * MINUTE, { reason: "retention", at: 31 * MINUTE }],
    ["nothing that time explains", submitted, 29 * MINUTE, undefined],
    ["nothing, when nothing is known", jobLifetime({}), 1_000 * MINUTE, undefined],
  ])("a job's lifetime explains an unknown job: %s", (_, lifetime, now, expected) =>
    expect(expiryOf(lifetime, now)).toEqual(expected));
});
