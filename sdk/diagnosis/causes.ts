/**
 * How certain a diagnosis is. It is `certain` only if the service shows the cause itself, and
 * `unknown` if the evidence does not reveal the cause.
 */
export type Certainty = "certain" | "likely" | "possible" | "unknown";

/** All levels of certainty, highest first. */
export const CERTAINTIES: readonly Certainty[] = ["certain", "likely", "possible", "unknown"];

/** The id of a cause. `docs/troubleshooting.md` explains each cause. */
export type CauseId =
  | "not-found"
  | "no-access"
  | "no-queue"
  | "no-workers-allowed"
  | "crash-loop"
  | "image-pull"
  | "worker-quota"
  | "spend-limit"
  | "volume-place"
  | "cuda-version"
  | "no-stock"
  | "compliance"
  | "many-pools"
  | "throttled"
  | "workers-busy"
  | "handler-takes-no-jobs"
  | "one-worker-takes-all"
  | "image-pulling"
  | "rollout"
  | "cold-start"
  | "scaling-rule"
  | "jobs-running"
  | "jobs-failing"
  | "workers-stopping"
  | "stale-binding"
  | "nothing-wrong"
  | "unknown";

/** A possible cause of a wait. */
interface CauseRow {
  /** A description of the cause. In messages, it follows the endpoint's name and a colon. */
  readonly words: string;
  /** The highest certainty that any evidence can give this cause. */
  readonly atMost: Certainty;
  /** The recommended action. */
  readonly advice: string;
  /** `true` if the cause goes away by itself, so that there is nothing to fix. */
  readonly passes: boolean;
}

const row = (atMost: Certainty, words: string, advice: string): CauseRow => ({ words, atMost, advice, passes: false });
const passing = (atMost: Certainty, words: string, advice: string): CauseRow => ({
  words,
  atMost,
  advice,
  passes: true,
});

/**
 * All causes that a diagnosis can name, in the order in which they should be fixed. The decisions,
 * the messages and the documentation are based on this table.
 */
export const CAUSES: Readonly<Record<CauseId, CauseRow>> = {
  "not-found": row(
    "certain",
    "there is no endpoint with this id in the account",
    "Check the id, the URL of the service, and that the key belongs to the endpoint's account. If someone has deleted the " +
      "endpoint, pulumi up --refresh creates a new one",
  ),
  "no-access": row(
    "certain",
    "the service does not accept the API key for this endpoint",
    "Check the key, its permissions and its account",
  ),
  "no-queue": row(
    "certain",
    "it is a load-balancing endpoint, which has no queue for jobs",
    "Call its workers with fetch, or submit the job to an endpoint with a queue",
  ),
  "no-workers-allowed": row(
    "certain",
    "no worker can start, because its workersMax is 0",
    "Set workersMax to 1 or more. If you did not set it to 0, the service has: it lowers workersMax to 2 after 3 days without " +
      "a request and to 0 after 7, and does not raise it again",
  ),
  "crash-loop": row(
    "certain",
    "the container ends soon after each start",
    "Read the log (serverless-gpu logs), and run the image on your machine. Usual reasons are an import error, a missing " +
      "variable, and an image whose CUDA is newer than the host's driver (set minCudaVersion)",
  ),
  "image-pull": row(
    "certain",
    "the image cannot be pulled",
    "Check the image's name and tag, its registry credential, and that it is built for linux/amd64",
  ),
  "worker-quota": row(
    "likely",
    "the account's quota of workers is used up",
    "Lower workersMax of other endpoints, or ask the service for a larger quota",
  ),
  "spend-limit": row(
    "likely",
    "the account's spend limit or balance keeps workers from starting",
    "Add balance or raise the spend limit in the service's console, or stop something else that runs",
  ),
  "volume-place": row(
    "likely",
    "no GPU of its pools is free in the data centers of its network volumes",
    "Add GPU pools to gpuIds that are available in these data centers, or use a volume in another data center",
  ),
  "cuda-version": row(
    "likely",
    "no free machine has a CUDA version that it accepts",
    "Lower minCudaVersion, or accept more versions in allowedCudaVersions",
  ),
  "no-stock": row(
    "likely",
    "its GPU pools are sold out in the data centers that it allows",
    "Add GPU pools to gpuIds, allow more data centers in locations, or wait",
  ),
  compliance: row(
    "possible",
    "no data center with free GPUs has all the compliance labels that it requires",
    "Require fewer labels, or allow other data centers or GPU pools",
  ),
  "many-pools": row(
    "possible",
    "its workers do not start, and it names more than three GPU pools",
    "Reduce gpuIds to three pools: endpoints with more pools have been seen to stay in this state",
  ),
  throttled: row(
    "likely",
    "its workers are throttled: the hosts that were chosen have no free GPU",
    "Wait a minute. If it continues, add GPU pools to gpuIds or data centers to locations",
  ),
  "workers-busy": row(
    "certain",
    "all workers that workersMax allows are busy",
    "Raise workersMax, or wait until jobs end",
  ),
  "handler-takes-no-jobs": row(
    "likely",
    "its workers run, but take no jobs",
    "Check that the program calls serverless.start, and that nothing blocks before it. Read the log (serverless-gpu logs)",
  ),
  "one-worker-takes-all": row(
    "likely",
    "one worker takes all jobs while others are idle",
    "Update the worker library runpod to 1.10.1 or later: versions 1.7.11 to 1.10.0 do this with a shared folder",
  ),
  "image-pulling": passing(
    "certain",
    "a worker still pulls the image or loads the model",
    "Wait. A smaller image, or one whose layers the host has, starts faster",
  ),
  rollout: passing(
    "likely",
    "a rollout replaces its workers",
    "Wait until no worker is stale. With workersMax 2 or more, jobs do not have to wait for it",
  ),
  "cold-start": passing("likely", "a worker is starting", "Wait. To avoid cold starts, set workersMin to 1 or more"),
  "scaling-rule": passing(
    "likely",
    "its scaling rule does not call for another worker yet",
    "Wait, or lower scalerValue",
  ),
  "jobs-running": passing(
    "likely",
    "its workers still run jobs",
    "Wait, cancel the jobs, or allow more time (drainTimeout for a deletion)",
  ),
  "jobs-failing": row(
    "likely",
    "no job is waiting, but more of its jobs have failed than completed",
    "Read the error of a failed job, and the log (serverless-gpu logs). The counts have no times, so the failures may be old",
  ),
  "workers-stopping": passing("likely", "its workers have no jobs and are stopping", "Wait"),
  "stale-binding": row(
    "possible",
    "the service may keep this endpoint on hosts that do not start it",
    "As a last resort, create a new endpoint with the same settings",
  ),
  "nothing-wrong": passing("likely", "nothing is wrong: no job is waiting", "There is nothing to do"),
  unknown: row(
    "unknown",
    "the data that the service shows does not explain why",
    "Read the log (serverless-gpu logs), and look at the endpoint in the service's console",
  ),
};

/** The ids of all causes, in the order in which they should be fixed. */
export const CAUSE_IDS = Object.keys(CAUSES) as CauseId[];

/** Returns the lower of two levels of certainty. */
export function lessSure(one: Certainty, other: Certainty): Certainty {
  return CERTAINTIES.indexOf(one) > CERTAINTIES.indexOf(other) ? one : other;
}
