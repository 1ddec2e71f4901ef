import type { Account } from "./held";

/** An image with this word in its name answers tests wrongly. */
export const BAD = "bad";

/** Answers a request to the queue: each job ends at once, and answers what its image answers. */
export function answerQueue(account: Account, path: string, _body: unknown): { status: number; body: unknown } {
  const [endpointId = "", operation, jobId] = path.replace(/^\/queue(\/v2)?\//, "").split("/");
  const endpoint = account.records.endpoint.get(endpointId);
  if (!endpoint) return { status: 404, body: { status: 404, title: "Not Found", detail: "endpoint not found" } };
  const isBad = account.containerOf(endpoint).imageName.includes(BAD);
  const job = { id: jobId ?? `job-${endpoint.version}`, status: "COMPLETED", delayTime: 10, executionTime: 20 };
  const answered = { ...job, output: { text: isBad ? "wrong" : "right" } };
  if (operation === "run") return { status: 200, body: { id: job.id, status: "IN_QUEUE" } };
  if (operation === "runsync" || operation === "status" || operation === "status-sync")
    return { status: 200, body: answered };
  if (operation === "cancel") return { status: 200, body: { id: job.id, status: "CANCELLED" } };
  if (operation === "requests") return { status: 200, body: { requests: [] } };
  if (operation !== "health") return { status: 404, body: { status: 404, title: "Not Found", detail: "unknown path" } };
  return {
    status: 200,
    body: {
      jobs: { completed: 0, failed: 0, inProgress: 0, inQueue: 0, retried: 0 },
      workers: { idle: 0, initializing: 0, ready: 0, running: 0, throttled: 0, unhealthy: 0 },
    },
  };
}
