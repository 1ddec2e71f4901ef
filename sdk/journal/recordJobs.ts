import { randomUUID } from "node:crypto";
import { isPathSegment } from "../transport/urls";
import type { Journal, JournalBatch, JournalEntry, OpenJournal } from "./journal";
import type { UnrecordedJob } from "./journalErrors";

/** A job that was not recorded. */
export interface RefusedJob extends UnrecordedJob {
  /** Why it was not recorded. */
  readonly reason: string;
}

/** The maximum number of jobs per request to the journal. */
const MOST_JOBS = 1_000;

/**
 * Records the jobs of keys whose submit got no response, so that the batch uses their results
 * instead of reporting the keys as uncertain. Call it in a webhook receiver with the key from the
 * webhook's URL, or with job ids from RunPod's console. Until its job has ended, a key that was
 * given a wrong job can be given another one.
 * @returns the jobs that were not recorded: their key is unknown or has another job, the id belongs
 * to another key or is not an id, or the list contradicts itself
 * @throws JournalRefusedError if the journal belongs to another batch
 * @throws JournalLockedError if the journal is a file that another process uses
 * @throws JournalUnavailableError
 */
export async function recordJobs(
  journal: Journal,
  batch: JournalBatch,
  jobs: readonly UnrecordedJob[],
): Promise<RefusedJob[]> {
  const open = await journal.open(batch);
  try {
    const reasonIn = contradictions(jobs);
    const refused = jobs.map(reasonIn).filter((job) => job !== undefined);
    const clear = jobs.filter((job) => !reasonIn(job));
    for (let at = 0; at < clear.length; at += MOST_JOBS) {
      refused.push(...(await recordGroup(open, clear.slice(at, at + MOST_JOBS))));
    }
    return refused;
  } finally {
    await open.close();
  }
}

async function recordGroup(open: OpenJournal, jobs: readonly UnrecordedJob[]): Promise<RefusedJob[]> {
  const owner = `jobs ${randomUUID()}`;
  // End the lease right away, so that any process of the batch can take over the jobs.
  await open.record(owner, [], true);
  const keys = jobs.map(({ key }) => key);
  const before = byKey(await open.collect(owner, keys));
  const news = jobs.filter(({ key, jobId }) => before.get(key)?.jobId !== jobId);
  if (news.length === 0) return [];
  const holders = new Map((await open.withJobs(news.map(({ jobId }) => jobId))).map((each) => [each.jobId, each.key]));
  const free = news.filter(({ jobId }) => !holders.has(jobId));
  await open.record(
    owner,
    free.map(({ key, jobId }) => ({ key, owner, state: "submitted", jobId })),
  );
  const after = byKey(await open.collect(owner, keys));
  return news.flatMap((job) => {
    const entry = after.get(job.key);
    const holder = holders.get(job.jobId);
    if (entry?.jobId === job.jobId) return [];
    if (!entry) return [{ ...job, reason: "the batch has no input with this key" }];
    if (holder !== undefined) {
      return [{ ...job, reason: `job ${job.jobId} belongs to the key ${JSON.stringify(holder)}` }];
    }
    return [{ ...job, reason: `the key has job ${entry.jobId}` }];
  });
}

const byKey = (entries: readonly JournalEntry[]) => new Map(entries.map((entry) => [entry.key, entry]));

/** Returns a function that finds what is wrong with a job of a list. */
function contradictions(jobs: readonly UnrecordedJob[]): (job: UnrecordedJob) => RefusedJob | undefined {
  const keysOf = groupedBy("jobId", jobs);
  const jobsOf = groupedBy("key", jobs);
  return (job) => {
    const { key, jobId } = job;
    if (!isPathSegment(jobId)) return { ...job, reason: "the jobId is not an id of a job" };
    const other = keysOf.get(jobId)?.find((each) => each.key !== key);
    if (other) return { ...job, reason: `job ${jobId} is also given for the key ${JSON.stringify(other.key)}` };
    const second = jobsOf.get(key)?.find((each) => each.jobId !== jobId);
    return second && { ...job, reason: `the key is also given with job ${second.jobId}` };
  };
}

function groupedBy(field: keyof UnrecordedJob, jobs: readonly UnrecordedJob[]): Map<string, UnrecordedJob[]> {
  const groups = new Map<string, UnrecordedJob[]>();
  for (const job of jobs) {
    const group = groups.get(job[field]);
    if (group) group.push(job);
    else groups.set(job[field], [job]);
  }
  return groups;
}
