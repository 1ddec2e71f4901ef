import type { Endpoint } from "../endpoints/endpoints";
import type { Worker } from "../workers/worker";

/** Why a worker in each phase takes no job yet. Other phases need no explanation. */
const PHASES: Readonly<Partial<Record<Worker["state"], string>>> = {
  throttled: "is throttled: its machine is busy",
  initializing: "is initializing",
};

/**
 * Returns why jobs and workers of an endpoint wait, one sentence each, from the emulator's own
 * model.
 */
export function waitsOf(endpoint: Endpoint): string[] {
  return [...waitOfJobs(endpoint), ...waitsOfWorkers(endpoint)];
}

function waitOfJobs(endpoint: Endpoint): string[] {
  const { record, runtime } = endpoint;
  const { waiting } = runtime.queue();
  const { workersMax } = record;
  if (waiting === 0) return [];
  if (workersMax === 0) return ["Jobs wait: workersMax is 0, so no worker may start."];
  const workers = runtime.workers();
  if (workers.length === 0) return [`Jobs wait: no worker has started. ${placeOrLimit(endpoint)}`];
  const busy = workers.filter(({ jobId }) => jobId !== undefined).length;
  return busy >= workersMax ? [`Jobs wait: all ${workersMax} workers (workersMax) are busy.`] : [];
}

function placeOrLimit({ record, runtime }: Endpoint): string {
  if (runtime.context.placesOf(record).length > 0) return "The autoscaler has not asked for one yet.";
  const { gpuIds, locations, minCudaVersion, allowedCudaVersions, gpuCount } = record;
  const rules = [
    gpuIds && `GPUs ${gpuIds}`,
    (gpuCount ?? 1) > 1 && `${gpuCount} GPUs per worker`,
    locations && `locations ${locations}`,
    minCudaVersion && `CUDA ${minCudaVersion} or newer`,
    allowedCudaVersions && `CUDA ${allowedCudaVersions}`,
  ].filter(Boolean);
  return `No machine has ${rules.join(", ")} and its volumes, or the account's spend limit is reached.`;
}

function waitsOfWorkers({ runtime }: Endpoint): string[] {
  const changes = new Map(runtime.pods().map(({ id, lastStatusChange }) => [id, lastStatusChange]));
  return runtime.workers().flatMap(({ id, phase }) => {
    const waits = PHASES[phase];
    if (waits === undefined) return [];
    const [last] = runtime.context.logs?.last(id, 1) ?? [];
    const line = last === undefined ? "" : ` Its log ends with: ${last.line}`;
    return [`Worker ${id} ${waits}. ${changes.get(id) ?? ""}.${line}`];
  });
}
