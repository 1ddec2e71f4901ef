import { type ErrorCode, ServerlessGpuError } from "../../sdk/errors/errors";
import type { LogLine } from "../../sdk/logs/record";
import type { ProviderClient } from "../connection/providerClient";
import { cancelled } from "../engine/cancellation";

/** The number of log lines in an error. */
const LINES = 20;
const LOG_TIMEOUT_MS = 5_000;

/**
 * Returns the end of an error about workers that do not work: the most likely cause, and the last
 * lines of their logs. Secrets in them are hidden. Never throws an error.
 */
export async function evidenceOf({ endpoints }: ProviderClient, id: string): Promise<string> {
  const diagnosing = endpoints.diagnose(id, { awaited: "workers", waitedMs: 0, logs: true, signal: cancelled });
  const [diagnosis, lines] = await Promise.all([diagnosing.catch(() => undefined), lastLines(endpoints, id)]);
  const cause = diagnosis?.causes[0];
  // A cause that passes by itself, such as the start of a worker, does not explain a failure.
  const isUseful = cause !== undefined && !cause.passes && !["unknown", "no-job-waits"].includes(cause.id);
  const why = isUseful ? `\nMost likely: ${diagnosis?.summary}. ${cause.advice}` : "";
  return lines.length === 0
    ? why
    : `${why}\nThe last lines of its workers:\n${lines.map((each) => `  ${each}`).join("\n")}`;
}

/**
 * Adds RunPod's information about an endpoint's workers to an error. The error must not be one of
 * the connection, because the same connection is used.
 */
export async function withEvidence(error: unknown, client: ProviderClient, id: string): Promise<unknown> {
  if (error instanceof ServerlessGpuError && EXPLAINED.includes(error.code))
    error.message += await evidenceOf(client, id);
  return error;
}

/** The codes of the errors that workers may explain. */
const EXPLAINED: readonly ErrorCode[] = [
  "READY_TIMEOUT",
  "DELETE_TIMEOUT",
  "RECYCLE_TIMEOUT",
  "SMOKE_TEST",
  "JOB_FAILED",
];

/** Returns the last lines that the workers printed or, if there are none, RunPod's own lines. */
async function lastLines(endpoints: ProviderClient["endpoints"], id: string): Promise<readonly string[]> {
  const lines: LogLine[] = [];
  try {
    for await (const each of endpoints.logs(id, { timeoutMs: LOG_TIMEOUT_MS, signal: cancelled })) lines.push(each);
  } catch {
    // GraphQL shows no logs, and an error must not hide the one that it explains.
  }
  const printed = lines.filter(({ source }) => source === "container");
  return (printed.length > 0 ? printed : lines).slice(-LINES).map(({ line }) => line);
}
