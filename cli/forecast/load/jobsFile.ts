import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** A temporary file of jobs that every run reads. */
export interface JobsFile {
  readonly file: string;
  readonly jobs: number;
  /** The arrival of the first job, as it was added. */
  readonly firstS: number;
  /** When the last job arrives, in seconds after the first. */
  readonly lastS: number;
  /**
   * Adds a job. Times are in seconds.
   * @throws Error if the job arrives before the previous one
   */
  add(arrivalS: number, durationS: number): void;
  /** Writes everything that is still buffered. */
  finish(): void;
  remove(): void;
}

const JOBS_PER_WRITE = 16_384;

/** Creates the file in a new temporary folder. */
export function createJobsFile(): JobsFile {
  const folder = mkdtempSync(path.join(tmpdir(), "serverless-gpu-forecast-"));
  const file = path.join(folder, "jobs");
  const handle = openSync(file, "w", 0o600);
  const buffer = new Float64Array(2 * JOBS_PER_WRITE);
  let [used, jobs, lastS] = [0, 0, 0];
  let firstS: number | undefined;

  function flush(): void {
    const bytes = Buffer.from(buffer.buffer, 0, used * 8);
    for (let written = 0; written < bytes.length; ) written += writeSync(handle, bytes, written);
    used = 0;
  }

  return {
    file,
    get jobs() {
      return jobs;
    },
    get firstS() {
      return firstS ?? 0;
    },
    get lastS() {
      return lastS;
    },
    add(arrivalS, durationS) {
      firstS ??= arrivalS;
      const sinceFirst = arrivalS - firstS;
      if (sinceFirst < lastS) {
        throw new Error(`the job arrives at ${arrivalS} s, before the one above it (${firstS + lastS} s)`);
      }
      lastS = sinceFirst;
      jobs += 1;
      buffer[used++] = sinceFirst;
      buffer[used++] = durationS;
      if (used === buffer.length) flush();
    },
    finish() {
      flush();
      closeSync(handle);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
