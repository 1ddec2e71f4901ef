import type { Reply } from "./catalog";
import type { World } from "./world";

const problem = (status: number, title: string, detail: string): Reply => ({ status, body: { status, title, detail } });

/** Answers a read of the queue host. `path` begins below `/v2`. */
export function queueReply(world: World, path: string): Reply {
  const [endpointId, operation, jobId] = path.split("/").filter(Boolean);
  if (endpointId !== world.endpointId || !world.exists) return problem(404, "Not Found", "endpoint not found");
  const counts = countsOf(world);
  if (operation === "health") return { status: 200, body: world.health ?? { jobs: world.jobs, workers: counts } };
  if (world.endpoint.type === "LOAD_BALANCER") return { status: 400, body: { error: "not allowed for QB API" } };
  if (operation === "metrics") {
    const readyWorkers = world.workers.filter(({ status }) => status === "IDLE").map(({ id }) => id);
    return { status: 200, body: { workers: counts, readyWorkers } };
  }
  if (operation === "requests") return { status: 200, body: { requests: world.recentJobs } };
  const job = operation === "status" && world.recentJobs.find(({ id }) => id === jobId);
  return job ? { status: 200, body: job } : problem(404, "Not Found", "job not found");
}

function countsOf({ workers }: World) {
  const count = (status: string) => workers.filter((each) => each.status === status).length;
  return {
    idle: count("IDLE"),
    ready: count("IDLE"),
    running: count("RUNNING"),
    initializing: count("INITIALIZING"),
    throttled: count("THROTTLED"),
    unhealthy: count("UNHEALTHY"),
  };
}
