import { JOB_STATES } from "../../sdk/contract/enums";
import type { Endpoints } from "../endpoints/endpoints";
import { findJob, jobDetails, jobView, latestJobs } from "../endpoints/jobView";
import type { EndpointRuntime } from "../endpoints/runtime";
import { oneOf, readQuery, wholeNumber } from "../io/query";
import { canHappen, RETRYABLE } from "../jobs/jobStates";
import { BadRequest, readJobRequest } from "../queue/jobRequest";
import { WORKER_STATES } from "../workers/watch";
import type { ControlRoute } from "./route";

/** The highest `limit` of a list. */
const MAX_LISTED = 10_000;
const LISTED = 100;

/** How many lines of a worker's log are returned. */
const LOG_LINES = 200;

/** Returns the routes that list and control jobs and workers. */
export function jobRoutes(endpoints: Endpoints): Readonly<Record<string, ControlRoute>> {
  function endpointWithId(endpointId: unknown) {
    const endpoint = typeof endpointId === "string" ? endpoints.find(endpointId) : undefined;
    if (endpoint) return endpoint;
    throw new TypeError(`There is no endpoint ${JSON.stringify(endpointId)}. Set "endpointId" to the id of one.`);
  }

  return {
    "GET jobs"({ query }) {
      const given = readQuery(query, ["endpointId", "status", "limit"]);
      const filter = { endpointId: given.endpointId, status: oneOf("status", given.status, JOB_STATES) };
      const limit = wholeNumber("limit", given.limit, MAX_LISTED, LISTED);
      const jobs = latestJobs(endpoints, filter, limit).reverse();
      return jobs.map(({ endpointId, job }) => jobView(endpointId, job));
    },
    "GET jobs/:id"({ id }) {
      const found = findJob(endpoints, id);
      return found ? jobDetails(found.endpointId, found.job) : false;
    },
    "POST jobs"({ body }) {
      const { endpointId, ...request } = (body ?? {}) as Readonly<Record<string, unknown>>;
      const { record, runtime } = endpointWithId(endpointId);
      return jobDetails(record.id, runtime.submit("run", readRequest(request, runtime)));
    },
    "POST jobs/:id/cancel"({ id }) {
      const found = findJob(endpoints, id);
      if (!found) return false;
      const { endpointId, runtime, job } = found;
      if (canHappen(job, "cancel")) return jobDetails(endpointId, runtime.cancel(job));
      throw new RangeError(`Job ${id} is ${job.status}: only waiting or running jobs can be cancelled.`);
    },
    "POST jobs/:id/retry"({ id }) {
      const found = findJob(endpoints, id);
      if (!found) return false;
      const { endpointId, runtime, job } = found;
      if (canHappen(job, "retry")) return jobDetails(endpointId, runtime.retry(job));
      throw new RangeError(`Job ${id} is ${job.status}: only ${RETRYABLE} jobs can be retried.`);
    },
    "GET workers"({ query }) {
      const given = readQuery(query, ["endpointId", "state", "limit"]);
      const state = oneOf("state", given.state, WORKER_STATES);
      const limit = wholeNumber("limit", given.limit, MAX_LISTED, LISTED);
      const shown = endpoints.all().filter(({ record }) => (given.endpointId ?? record.id) === record.id);
      return shown
        .flatMap(({ record, runtime }) => runtime.workers().map((worker) => ({ endpointId: record.id, ...worker })))
        .filter((worker) => state === undefined || worker.state === state)
        .slice(0, limit);
    },
    "GET workers/:id/log"({ id }) {
      const found = endpoints.all().find(({ runtime }) => runtime.workers().some((worker) => worker.id === id));
      return found ? { lines: found.runtime.context.logs?.last(id, LOG_LINES) ?? [] } : false;
    },
    "DELETE workers/:id": ({ id }) => endpoints.all().some(({ runtime }) => runtime.killWorker(id)) && undefined,
  };
}

/** @throws TypeError if the queue would reject the job request as malformed */
function readRequest(request: unknown, runtime: EndpointRuntime) {
  try {
    return readJobRequest(request, runtime.context.profile, runtime.policy());
  } catch (error) {
    throw error instanceof BadRequest ? new TypeError(error.message) : error;
  }
}
