import { type Journal, type JournalBatch, recordJobs, type UnrecordedJob } from "../../sdk";
import { say } from "../terminal";
import { inputLines } from "./inputLines";

/**
 * Gives the journal the ids of jobs that were found elsewhere.
 * @param file lines with `{"key", "jobId"}`
 * @throws Error if a line names a key without a place for its job
 */
export async function settle(journal: Journal, batch: JournalBatch, file: string): Promise<void> {
  const jobs: UnrecordedJob[] = [];
  for await (const { given, number } of inputLines(file)) jobs.push(jobIn(given, `${file}, line ${number}`));
  const refused = await recordJobs(journal, batch, jobs);
  say(`${jobs.length - refused.length} of ${jobs.length} jobs of ${file} are recorded`);
  if (refused.length === 0) return;
  const keys = refused.map(({ key }) => JSON.stringify(key)).join(", ");
  throw new Error(`the batch has no input, or another job, for these keys in ${file}: ${keys}. Remove their lines`);
}

function jobIn(given: object, place: string): UnrecordedJob {
  const { key, jobId } = given as Partial<Record<keyof UnrecordedJob, unknown>>;
  if (typeof key === "string" && typeof jobId === "string" && jobId !== "") return { key, jobId };
  throw new Error(`${place} is not a job. Each line must be like {"key": "page-1", "jobId": "a1b2"}`);
}
