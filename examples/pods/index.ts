import * as pulumi from "@pulumi/pulumi";
import {
  getEndpointHealthOutput,
  getEndpointOutput,
  getEndpointsOutput,
  getPodOutput,
  getServerlessDiscountOutput,
  ServerlessEndpoint,
} from "pulumi-serverless-gpu";

// pulumi config set podId …
const podId = new pulumi.Config().require("podId");

const pod = getPodOutput({ podId, includeMachine: true, includeWorkers: true });
export const where = pod.apply(({ machine }) => machine?.dataCenterId);
export const costPerHr = pod.costPerHr;

/** A secret: the variables of a pod hold keys. */
export const podEnv = pod.env;

// A worker of an endpoint names it, and the endpoint is looked up once that is known.
const endpointId = pod.apply(({ endpointId }) => {
  if (!endpointId) throw new pulumi.RunError(`pod ${podId} is no worker of an endpoint`);
  return endpointId;
});
export const queueUrl = getEndpointOutput({ id: endpointId }).queueUrl;
export const jobsInQueue = getEndpointHealthOutput({ endpointId }).jobs.inQueue;

// As a resource that is read and never changed, it shows in the stack and in the graph of what depends on what.
export const workersMax = ServerlessEndpoint.get("worker", endpointId).workersMax;

/** What all endpoints of the account take of its quota of workers. */
export const workersOfAll = getEndpointsOutput().apply((all) => all.reduce((sum, each) => sum + each.workersMax, 0));

export const discountFactor = getServerlessDiscountOutput().apply((discount) => discount?.discountFactor ?? 0);
