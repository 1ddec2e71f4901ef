import type { Endpoints } from "../endpoints/endpoints";
import { type JobFilter, jobView, latestJobs, matchesJob } from "../endpoints/jobView";
import type { Job } from "../jobs/jobStates";
import type { Change } from "./views";

/** Follows the latest jobs that match a filter. */
export interface JobChanges {
  /** Must be called when a job was added or changed. */
  touched(endpointId: string, jobId: string): void;
  /** Returns the changes since the last call; the first time, all jobs that are shown. */
  changes(): Pick<Change, "jobs" | "jobsGone">;
}

/** A job that the page shows, as it was sent. */
interface Shown {
  readonly endpointId: string;
  readonly job: Job;
}

/**
 * Follows at most `limit` jobs, so that the cost of a change depends on neither the number of jobs
 * nor their rate.
 */
export function createJobChanges(endpoints: Endpoints, filter: JobFilter, limit: number): JobChanges {
  const shown = new Map<string, Shown>();
  const touched = new Map<string, string>();
  let isFirst = true;

  const find = (endpointId: string, id: string) => endpoints.find(endpointId)?.runtime.find(id);

  /** Drops the oldest jobs above the limit. The page does the same. */
  function trim(): void {
    for (const id of shown.keys()) {
      if (shown.size <= limit) return;
      shown.delete(id);
    }
  }

  function first(): Pick<Change, "jobs"> {
    isFirst = false;
    touched.clear();
    const jobs = latestJobs(endpoints, filter, limit);
    for (const each of jobs) shown.set(each.job.id, each);
    return { jobs: jobs.map(({ endpointId, job }) => jobView(endpointId, job)) };
  }

  /** Returns the jobs that are shown and have changed, and the ids of those that are gone. */
  function changed(): { changed: Shown[]; gone: string[] } {
    const result: { changed: Shown[]; gone: string[] } = { changed: [], gone: [] };
    for (const [id, { endpointId, job }] of shown) {
      touched.delete(id);
      const now = find(endpointId, id);
      if (now === job) continue;
      if (now && matchesJob(filter, endpointId, now)) {
        shown.set(id, { endpointId, job: now });
        result.changed.push({ endpointId, job: now });
      } else {
        shown.delete(id);
        result.gone.push(id);
      }
    }
    return result;
  }

  function added(): Shown[] {
    const jobs: Shown[] = [];
    for (const [id, endpointId] of touched) {
      const job = find(endpointId, id);
      if (job && matchesJob(filter, endpointId, job)) jobs.push({ endpointId, job });
    }
    touched.clear();
    const oldest = shown.size < limit ? 0 : (shown.values().next().value?.job.submittedAt ?? 0);
    const fresh = jobs.filter(({ job }) => job.submittedAt >= oldest);
    fresh.sort((a, b) => a.job.submittedAt - b.job.submittedAt);
    for (const each of fresh) shown.set(each.job.id, each);
    return fresh;
  }

  return {
    touched(endpointId, jobId) {
      const job = find(endpointId, jobId);
      if (isFirst || !job || shown.has(jobId) || !matchesJob(filter, endpointId, job)) return;
      touched.delete(jobId);
      touched.set(jobId, endpointId);
      if (touched.size > 2 * limit) touched.delete(touched.keys().next().value as string);
    },
    changes() {
      if (isFirst) return first();
      const { changed: changedJobs, gone } = changed();
      const jobs = [...changedJobs, ...added()].filter(({ job }) => shown.get(job.id)?.job === job);
      trim();
      const kept = jobs.filter(({ job }) => shown.has(job.id));
      return {
        ...(kept.length > 0 && { jobs: kept.map(({ endpointId, job }) => jobView(endpointId, job)) }),
        ...(gone.length > 0 && { jobsGone: gone }),
      };
    },
  };
}
