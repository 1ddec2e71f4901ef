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

/** A secret, because a pod's variables contain keys. */
export const podEnv = pod.env;

// The pod of a worker contains the id of its endpoint. The endpoint is read as soon as the id is
// known.
const endpointId = pod.apply(({ endpointId }) => {
  if (!endpointId) throw new pulumi.RunError(`pod ${podId} is not a worker of an endpoint`);
  return endpointId;
});
export const queueUrl = getEndpointOutput({ id: endpointId }).queueUrl;
export const jobsInQueue = getEndpointHealthOutput({ endpointId }).jobs.inQueue;

// As a resource that is only read, it appears in the stack and in the dependency graph.
export const workersMax = ServerlessEndpoint.get("worker", endpointId).workersMax;

/** The part of the account's worker quota that its endpoints use. */
export const workersOfAll = getEndpointsOutput().apply((all) => all.reduce((sum, each) => sum + each.workersMax, 0));

export const discountFactor = getServerlessDiscountOutput().apply((discount) => discount?.discountFactor ?? 0);
