import { sleep, systemClock } from "../../sdk/contract/clock";
import { LIST_LAG_MS } from "../../sdk/contract/limits";
import { CodedError, type ErrorCode, ServerlessGpuError } from "../../sdk/errors/errors";
import type { ProviderClient } from "../connection/providerClient";
import { cancelled } from "../engine/cancellation";
import { secretFields } from "../engine/forEngine";
import { log, waitLogger } from "../engine/log";
import type { Properties } from "../engine/properties";
import { runTest } from "../smokeTest/smokeTestHandlers";
import type { JobWatch, RollOut } from "./rollOutInputs";
import {
  countsInWords,
  countsSince,
  isOut,
  isUnseen,
  percent,
  type Verdict,
  verdictOf,
  type Workers,
  workersInWords,
} from "./verdicts";

const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 10_000;
const WATCH_PAUSE_MS = 5_000;

/** The endpoint whose release is judged. */
interface Judged {
  readonly client: ProviderClient;
  readonly id: string;
  readonly name: string;
}

/**
 * Judges the endpoint's current release: waits until its workers run it, tests it, and watches its
 * jobs.
 * @returns why the release failed, or `undefined` if it passed
 * @throws Error if the release could not be judged
 */
export async function judge(judged: Judged, rollOut: RollOut, inputs: Properties): Promise<string | undefined> {
  const { id, name, client } = judged;
  const { test, watch, timeoutMs } = rollOut;
  const failure = await waitForWorkers(judged, test === undefined, timeoutMs);
  if (failure !== undefined) return failure;
  const failedTest = test && (await failureOfTest(id, test, inputs));
  if (failedTest !== undefined) {
    const seen = await look(judged).catch(() => undefined);
    return seen ? `${failedTest} (${workersInWords(seen)})` : failedTest;
  }
  return watch && failureInWatch(client, id, name, watch);
}

/**
 * Waits until no worker runs an older release and, if required, a worker of the latest release is
 * ready.
 * @returns why the release failed
 * @throws ROLL_OUT if workers of an older release are still busy, which says nothing about this
 * release
 */
async function waitForWorkers(judged: Judged, needsReady: boolean, timeoutMs: number): Promise<string | undefined> {
  const seen = await untilOut(judged, needsReady, timeoutMs, "the new release");
  if (isOut(seen, needsReady)) return undefined;
  const seconds = Math.round(timeoutMs / 1000);
  const words = workersInWords(seen);
  if (!isOut(seen, false)) {
    throw new CodedError(
      "ROLL_OUT",
      `its workers were not replaced within ${seconds} s: ${words}. Wait for long jobs, or set a longer rollOut.timeout`,
    );
  }
  return `none of its workers was ready after ${seconds} s: ${words}`;
}

/**
 * Waits until the latest release is rolled out or the time is up. Returns the workers as they were
 * last seen.
 */
async function untilOut(judged: Judged, needsReady: boolean, timeoutMs: number, what: string): Promise<Workers> {
  const logWait = waitLogger(judged.name);
  // RunPod may still show the workers as they were before the save.
  await sleep(systemClock, LIST_LAG_MS, cancelled);
  let seen = await look(judged);
  if (isUnseen(seen))
    log(judged.name, `the service does not show which workers run ${what}, so this run does not wait for them`);
  const startedAt = systemClock.monotonic();
  for (let pauseMs = FIRST_PAUSE_MS; !isOut(seen, needsReady); pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 1.5)) {
    const elapsedMs = systemClock.monotonic() - startedAt;
    if (elapsedMs >= timeoutMs) break;
    logWait(`waiting until its workers run ${what}: ${workersInWords(seen)}`, elapsedMs);
    await sleep(systemClock, Math.min(pauseMs, timeoutMs - elapsedMs), cancelled);
    seen = await look(judged);
  }
  return seen;
}

async function look({ client, id }: Judged): Promise<Workers> {
  const workers = await client.endpoints.workers(id, { signal: cancelled });
  const { jobs, workers: counts } = await client.endpoint(id).health({ signal: cancelled });
  return { workers, inQueue: jobs.inQueue, ready: counts.idle + counts.running };
}

/**
 * The test errors that say something about the release. All other errors are caused by the
 * connection.
 */
const FAILURES: readonly ErrorCode[] = ["SMOKE_TEST", "JOB_FAILED", "JOB_EXPIRED", "OUTPUT_MISMATCH"];

/** Runs the test. Returns why the release failed the test, or `undefined` if it passed. */
async function failureOfTest(id: string, test: Properties, inputs: Properties): Promise<string | undefined> {
  const isSecret = secretFields(inputs).some((name) => name.startsWith("rollOut"));
  const marks = isSecret ? { __secretInputs: Object.keys(test).join() } : {};
  try {
    await runTest({ ...test, endpointId: id, ...marks });
    return undefined;
  } catch (error) {
    if (error instanceof ServerlessGpuError && FAILURES.includes(error.code))
      return `its test failed: ${error.message}`;
    throw error;
  }
}

/** Counts the jobs that end. Returns why the release failed, or `undefined` if it passed. */
async function failureInWatch(
  client: ProviderClient,
  id: string,
  name: string,
  watch: JobWatch,
): Promise<string | undefined> {
  const health = async () => (await client.endpoint(id).health({ signal: cancelled })).jobs;
  const logWait = waitLogger(name);
  const from = await health();
  let jobs = from;
  let verdict: Verdict = "open";
  const timeoutMs = watch.seconds * 1000;
  const startedAt = systemClock.monotonic();
  for (;;) {
    const elapsedMs = systemClock.monotonic() - startedAt;
    verdict = verdictOf(countsSince(from, jobs), watch, elapsedMs >= timeoutMs);
    if (verdict !== "open") break;
    logWait(`watching its new release for ${watch.seconds} s: ${countsInWords(countsSince(from, jobs))}`, elapsedMs);
    await sleep(systemClock, Math.min(WATCH_PAUSE_MS, Math.max(timeoutMs - elapsedMs, 1)), cancelled);
    jobs = await health();
  }
  const counts = countsSince(from, jobs);
  const { inProgress, inQueue } = jobs;
  if (verdict === "too few jobs") {
    const open = `${inProgress} in progress, ${inQueue} waiting`;
    log(name, `not enough traffic to judge: ${countsInWords(counts)}, and minJobs is ${watch.minJobs} (${open})`);
  }
  if (verdict !== "failed") return undefined;
  const seconds = Math.round((systemClock.monotonic() - startedAt) / 1000);
  return `${countsInWords(counts)} within ${seconds} s, more than ${percent(watch.maxFailed)}`;
}
