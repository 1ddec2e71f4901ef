import type { Endpoints } from "../endpoints/endpoints";
import { type JobFilter, jobView, latestJobs, matchesJob } from "../endpoints/jobView";
import type { Job } from "../jobs/jobStates";
import type { Change } from "./views";

/** A job as last sent to the page. */
interface Shown {
  readonly endpointId: string;
  readonly job: Job;
}

/**
 * Tracks the latest jobs that match a filter, at most `limit`. The cost of a change therefore
 * depends on neither the number of jobs nor their rate.
 */
export class JobChanges {
  readonly #endpoints: Endpoints;
  readonly #filter: JobFilter;
  readonly #limit: number;
  readonly #shown = new Map<string, Shown>();
  readonly #changedIds = new Map<string, string>();
  #isFirst = true;

  constructor(endpoints: Endpoints, filter: JobFilter, limit: number) {
    this.#endpoints = endpoints;
    this.#filter = filter;
    this.#limit = limit;
  }

  /** Must be called when a job is added or changed. */
  onChange(endpointId: string, jobId: string): void {
    const job = this.#find(endpointId, jobId);
    if (this.#isFirst || !job || this.#shown.has(jobId) || !matchesJob(this.#filter, endpointId, job)) return;
    this.#changedIds.delete(jobId);
    this.#changedIds.set(jobId, endpointId);
    if (this.#changedIds.size > 2 * this.#limit)
      this.#changedIds.delete(this.#changedIds.keys().next().value as string);
  }

  /** Returns the changes since the last call. The first call returns all listed jobs. */
  changes(): Pick<Change, "jobs" | "jobsGone"> {
    if (this.#isFirst) return this.#first();
    const { changed: changedJobs, gone } = this.#changed();
    const jobs = [...changedJobs, ...this.#added()].filter(({ job }) => this.#shown.get(job.id)?.job === job);
    this.#trim();
    const kept = jobs.filter(({ job }) => this.#shown.has(job.id));
    return {
      ...(kept.length > 0 && { jobs: kept.map(({ endpointId, job }) => jobView(endpointId, job)) }),
      ...(gone.length > 0 && { jobsGone: gone }),
    };
  }

  #find(endpointId: string, id: string) {
    return this.#endpoints.find(endpointId)?.runtime.find(id);
  }

  /** Drops the oldest jobs above the limit. The page does the same. */
  #trim(): void {
    for (const id of this.#shown.keys()) {
      if (this.#shown.size <= this.#limit) return;
      this.#shown.delete(id);
    }
  }

  #first(): Pick<Change, "jobs"> {
    this.#isFirst = false;
    this.#changedIds.clear();
    const jobs = latestJobs(this.#endpoints, this.#filter, this.#limit);
    for (const each of jobs) this.#shown.set(each.job.id, each);
    return { jobs: jobs.map(({ endpointId, job }) => jobView(endpointId, job)) };
  }

  /** Returns the listed jobs that have changed, and the ids of those that are gone. */
  #changed(): { changed: Shown[]; gone: string[] } {
    const result: { changed: Shown[]; gone: string[] } = { changed: [], gone: [] };
    for (const [id, { endpointId, job }] of this.#shown) {
      this.#changedIds.delete(id);
      const now = this.#find(endpointId, id);
      if (now === job) continue;
      if (now && matchesJob(this.#filter, endpointId, now)) {
        this.#shown.set(id, { endpointId, job: now });
        result.changed.push({ endpointId, job: now });
      } else {
        this.#shown.delete(id);
        result.gone.push(id);
      }
    }
    return result;
  }

  #added(): Shown[] {
    const jobs: Shown[] = [];
    for (const [id, endpointId] of this.#changedIds) {
      const job = this.#find(endpointId, id);
      if (job && matchesJob(this.#filter, endpointId, job)) jobs.push({ endpointId, job });
    }
    this.#changedIds.clear();
    const oldest = this.#shown.size < this.#limit ? 0 : (this.#shown.values().next().value?.job.submittedAt ?? 0);
    const fresh = jobs.filter(({ job }) => job.submittedAt >= oldest);
    fresh.sort((a, b) => a.job.submittedAt - b.job.submittedAt);
    for (const each of fresh) this.#shown.set(each.job.id, each);
    return fresh;
  }
}
