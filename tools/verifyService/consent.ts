import { createInterface } from "node:readline/promises";
import { secondName, type TestedConnection } from "./testedService";

/** The limits of a run. */
interface Bounds {
  readonly maxRequests: number;
  readonly maxMinutes: number;
}

export function boundsOf(runJobs: boolean): Bounds {
  return runJobs ? { maxRequests: 350, maxMinutes: 8 } : { maxRequests: 200, maxMinutes: 4 };
}

/** Describes what the run will do and its maximum cost, for the user to confirm. */
export function announcement(
  { graphqlUrl }: TestedConnection,
  name: string,
  { runJobs, gpu, template }: { readonly runJobs: boolean; readonly gpu: string; readonly template: string },
): string {
  const { maxRequests, maxMinutes } = boundsOf(runJobs);
  const cost = runJobs
    ? `It runs one job on at most one worker (${gpu}), which you pay for: at most ${maxMinutes} minutes, plus the time that ` +
      "the worker takes to stop."
    : "It has workersMin 0 and workersMax 0, so no worker can start: no GPU time is used.";
  return [
    `This creates one endpoint, "${name}" (template ${template}), in the account of your key at ${graphqlUrl}.`,
    `Over REST v2 it creates a second one, "${secondName({ name })}", without workers, and deletes it.`,
    "Where the service has tags, it also creates one, serverless-gpu-verify, for this endpoint, and deletes it.",
    cost,
    `It sends at most ${maxRequests} requests in at most ${maxMinutes} minutes, a few of them with a wrong key.`,
    "Then it deletes the endpoints and verifies that they are gone. It changes nothing else.\n",
  ].join("\n");
}

/** Asks for confirmation on the terminal. Anything but "yes", including an interrupt, means no. */
export async function isAgreed(): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const stopped = new AbortController();
  terminal.once("SIGINT", () => stopped.abort());
  terminal.once("close", () => stopped.abort());
  try {
    return (await terminal.question('Type "yes" to continue: ', { signal: stopped.signal })).trim() === "yes";
  } catch {
    return false;
  } finally {
    terminal.close();
  }
}
