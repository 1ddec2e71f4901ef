/**
 * How certain a diagnosis is. It is `certain` only if a statement of the service itself is enough
 * to prove the cause, and `unknown` if the evidence does not reveal the cause.
 */
export type Certainty = "certain" | "likely" | "possible" | "unknown";

const READ_LOG = "Read the log (npx pulumi-serverless-gpu logs <endpoint> --api v2)";

/**
 * All causes that a diagnosis can name, in the order in which they should be fixed, with the words
 * that follow the endpoint's name and a colon.
 */
export const WORDS = {
  "not-found": "there is no endpoint with this id in the account",
  "no-access": "the service does not accept the API key for this endpoint",
  "no-workers-allowed": "no worker can start, because its workersMax is 0",
  "crash-loop": "its container ends with an error, or starts again and again",
  "image-pull": "the image cannot be pulled",
  "missing-secret": "a variable refers to a secret that the account does not have",
  "worker-quota": "the account's quota of workers is used up",
  "spend-limit": "the account's spend limit or balance keeps workers from starting",
  "gpu-ids": "its gpuIds leave no GPU type: its pools do not exist, or all their types are excluded",
  "volume-place": "no machine that it accepts is free where its network volumes are",
  "cuda-version": "no free machine has a CUDA version that it accepts",
  "no-stock": "its GPU pools are sold out in the data centers that it allows",
  throttled: "its workers are throttled: the hosts that were chosen have no free capacity",
  "workers-busy": "all workers that workersMax allows are busy",
  "handler-takes-no-jobs": "its workers run, but take no jobs",
  "one-worker-takes-all": "one worker takes all jobs while others are idle",
  "image-pulling": "a worker still pulls the image or loads the model",
  rollout: "a rollout replaces its workers",
  "cold-start": "a worker is starting",
  "scaling-rule": "its scaling rule does not call for another worker yet",
  "jobs-running": "its workers still run jobs",
  "jobs-failing": "no job is waiting, but more of its jobs have failed than completed",
  "workers-stopping": "its workers have no jobs and are stopping",
  "no-queue": "it is a load-balancing endpoint, which has no queue for jobs",
  "nothing-wrong": "nothing is wrong: no job waits, and nothing else that was read shows a problem",
  "no-job-waits": "no job waits, but not everything was read, or something shows a problem",
  unknown: "the data that the service shows does not explain why",
};

/**
 * The id of a cause. `docs/troubleshooting.md` explains each cause.
 * @useDeclaredType
 */
export type CauseId = keyof typeof WORDS;

/** The ids of all causes, in the order in which they should be fixed. */
export const CAUSE_IDS = Object.keys(WORDS) as CauseId[];

/** The advice for each cause. `<endpoint>` is its id, and text in braces applies only to GPUs. */
const ADVICE: Readonly<Record<CauseId, string>> = {
  "not-found":
    "Check its id, the service's URL and the key's account. If someone has deleted it, pulumi up --refresh creates a new one",
  "no-access": "Check the key, its permissions and its account",
  "no-workers-allowed":
    "Set workersMax to 1 or more, in the rule if a schedule sets it. The service lowers it to 2 after 3 days without a request and to 0 after 7",
  "crash-loop": `${READ_LOG}, and run the image on your machine. Usual reasons: an import error, a missing variable{, or a CUDA version newer than the host's driver (set minCudaVersion)}`,
  "image-pull": "Check the image's name and tag, its registry credential, and that it is built for linux/amd64",
  "missing-secret": "Create the secret, or correct the name in the variable",
  "worker-quota": "Lower workersMax of other endpoints, or ask the service for a larger quota",
  "spend-limit": "Add balance or raise the spend limit in the service's console, or stop something else that runs",
  "gpu-ids": "Correct gpuIds. In the project's folder, npx pulumi-serverless-gpu doctor compares it with the catalog",
  "volume-place": "Allow their data centers in locations{, add GPU pools that they have}, or use other volumes",
  "cuda-version": "Lower minCudaVersion, or accept more versions in allowedCudaVersions",
  "no-stock": "Add GPU pools to gpuIds, allow more data centers in locations, or wait",
  throttled: "Wait a minute. If it continues, allow more data centers in locations{, or add GPU pools to gpuIds}",
  "workers-busy": "Raise workersMax if the account's quota of workers has room, or wait until jobs end",
  "handler-takes-no-jobs": `Check that the program calls serverless.start, and that nothing blocks before it. ${READ_LOG}`,
  "one-worker-takes-all": "Update the library runpod to 1.10.1 or later: 1.7.11 to 1.10.0 do this with a shared folder",
  "image-pulling": "Wait. A smaller image, or one whose layers the host has, starts faster",
  rollout: "Wait until no worker is stale. With workersMax 2 or more, jobs do not have to wait for it",
  "cold-start": "Wait. To avoid cold starts, set workersMin to 1 or more",
  "scaling-rule": "Wait, or lower scalerValue",
  "jobs-running": "Wait, cancel the jobs, or allow more time (drainTimeout for a deletion)",
  "jobs-failing": `Read the error of a failed job. The failures may be old, because the counts have no times. ${READ_LOG}`,
  "workers-stopping": "Wait",
  "no-queue": "Call its workers with fetch, or submit the job to an endpoint with a queue",
  "nothing-wrong": "There is nothing to do",
  "no-job-waits": "Compare what was seen, below. Only REST v2 with the option logs shows all of it",
  unknown: `${READ_LOG}, and look at the endpoint in the service's console`,
};

/** The causes that go away by themselves, so that there is nothing to fix. */
export const PASSING: readonly string[] =
  "image-pulling rollout cold-start scaling-rule jobs-running workers-stopping nothing-wrong".split(" ");

/** Returns the advice for an endpoint. */
export function adviceOn(id: CauseId, endpointId: string, isOnGpus = true): string {
  return ADVICE[id].replace(/\{(.*?)\}/g, isOnGpus ? "$1" : "").replaceAll("<endpoint>", endpointId);
}
