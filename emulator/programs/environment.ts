/** The ids that a worker's environment contains. */
export interface WorkerIdentity {
  /** Id of the worker's pod. */
  readonly id: string;
  readonly endpointId: string;
}

/**
 * The environment variables that workers inherit from the emulator: those for finding programs and
 * for formatting text and times. Others may contain secrets.
 */
const INHERITED = ["PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"];

/** The interval between a worker's pings, in milliseconds. */
const PING_INTERVAL_MS = 10_000;

/**
 * Returns the environment of every worker: the inherited variables, `own`, and the worker's ids.
 * @param home an empty folder. A worker library would read the user's key from the real home
 * folder.
 * @throws Error if a variable cannot be passed to a process
 */
function baseEnvironment(
  { id, endpointId }: WorkerIdentity,
  home: string,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const withNull = Object.entries(own).find((entry) => entry.some((text) => text.includes("\0")));
  if (withNull) throw new Error(`the variable ${JSON.stringify(withNull[0])} has a null character`);
  const inherited = INHERITED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  return {
    ...Object.fromEntries(inherited),
    HOME: home,
    ...own,
    RUNPOD_POD_ID: id,
    RUNPOD_POD_HOSTNAME: id,
    RUNPOD_ENDPOINT_ID: endpointId,
    RUNPOD_GPU_TYPE_ID: "emulated",
  };
}

/**
 * Returns the environment of a worker that fetches jobs through the service's worker protocol.
 * @param url the emulator's URL
 * @param token this worker's key for the worker protocol
 */
export function workerEnvironment(
  worker: WorkerIdentity,
  url: string,
  token: string,
  home: string,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const { id, endpointId } = worker;
  const base = `${url}/v2/${endpointId}`;
  return {
    ...baseEnvironment(worker, home, own),
    // The worker replaces $ID and appends its parameters to the query, so the query must exist.
    RUNPOD_WEBHOOK_GET_JOB: `${base}/job-take/${id}?gpu=emulated`,
    RUNPOD_WEBHOOK_POST_OUTPUT: `${base}/job-done/${id}/$ID?gpu=emulated`,
    RUNPOD_WEBHOOK_POST_STREAM: `${base}/job-stream/${id}/$ID?gpu=emulated`,
    RUNPOD_WEBHOOK_PING: `${base}/ping/${id}`,
    RUNPOD_PING_INTERVAL: String(PING_INTERVAL_MS),
    RUNPOD_AI_API_KEY: token,
    // There is no GPU, and the checks would connect to other machines.
    RUNPOD_SKIP_AUTO_SYSTEM_CHECKS: "true",
    RUNPOD_SKIP_GPU_CHECK: "true",
  };
}

/** Returns the environment of a worker that runs an HTTP server on the ports. */
export function serverEnvironment(
  worker: WorkerIdentity,
  home: string,
  own: Readonly<Record<string, string>>,
  { port, healthPort }: { readonly port: number; readonly healthPort: number },
): Record<string, string> {
  return { ...baseEnvironment(worker, home, own), PORT: String(port), PORT_HEALTH: String(healthPort) };
}
