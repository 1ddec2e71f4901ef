import type { Job } from "../jobs/jobStates";

/** A worker's pending requests for jobs. */
interface JobPolls {
  /** The number of jobs that they still ask for. */
  readonly room: number;
  /**
   * Resolves with the jobs assigned to the request, or with none when the request ends.
   * @param size how many jobs the worker asks for, ≥ 1
   */
  open(size: number, signal: AbortSignal): Promise<readonly Job[]>;
  /**
   * Assigns a job to the first request that has room. Jobs assigned in the same turn of the event
   * loop are sent together.
   */
  give(job: Job): void;
  /**
   * Ends all requests, so that a stopping worker does not wait for them. New requests then end at
   * once.
   */
  close(): void;
}

interface Poll {
  readonly size: number;
  readonly jobs: Job[];
  readonly end: () => void;
}

/**
 * @param schedule calls a function after a request's maximum wait, and returns a function that
 * cancels it
 */
export function createJobPolls(schedule: (callback: () => void) => () => void): JobPolls {
  const polls = new Set<Poll>();
  let isClosed = false;

  return {
    get room() {
      let room = 0;
      for (const { size, jobs } of polls) room += size - jobs.length;
      return room;
    },
    open(size, signal) {
      return new Promise((resolve) => {
        const end = () => {
          polls.delete(poll);
          cancel();
          signal.removeEventListener("abort", end);
          resolve(poll.jobs);
        };
        const poll: Poll = { size, jobs: [], end };
        const cancel = schedule(end);
        if (isClosed || signal.aborted) return end();
        signal.addEventListener("abort", end, { once: true });
        polls.add(poll);
      });
    },
    give(job) {
      for (const poll of polls) {
        if (poll.jobs.length >= poll.size) continue;
        if (poll.jobs.push(job) === 1) queueMicrotask(poll.end);
        return;
      }
    },
    close() {
      isClosed = true;
      for (const { end } of [...polls]) end();
    },
  };
}
