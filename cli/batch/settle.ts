import { type Journal, type JournalBatch, recordJobs, type UnrecordedJob } from "../../sdk";
import { say } from "../terminal";
import { inputLines } from "./inputLines";

/**
 * Gives the journal the ids of jobs that were found elsewhere.
 * @param file lines with `{"key", "jobId"}`
 * @throws Error if a job could not be recorded
 */
export async function settle(journal: Journal, batch: JournalBatch, file: string): Promise<void> {
  const jobs: UnrecordedJob[] = [];
  for await (const { given, number } of inputLines(file)) jobs.push(jobIn(given, `${file}, line ${number}`));
  const refused = await recordJobs(journal, batch, jobs);
  say(`${jobs.length - refused.length} of ${jobs.length} jobs of ${file} are recorded`);
  if (refused.length === 0) return;
  for (const { key, reason } of refused) say(`${file}, key ${JSON.stringify(key)}: ${reason}`);
  throw new Error(
    `nothing was submitted, because ${refused.length} jobs of ${file} could not be recorded. Correct or remove their lines`,
  );
}

function jobIn(given: object, place: string): UnrecordedJob {
  const { key, jobId } = given as Partial<Record<keyof UnrecordedJob, unknown>>;
  if (typeof key === "string" && typeof jobId === "string" && jobId !== "") return { key, jobId };
  throw new Error(`${place} is not a job. Each line must be like {"key": "page-1", "jobId": "a1b2"}`);
}
