import { type HttpResponse, json } from "../io/http";

/** The load balancer's own responses. They do not name a worker. */

export const unauthorized = (): HttpResponse => json(401, { error: "Unauthorized" }, "lb.unauthorized");

export const unknownEndpoint = (): HttpResponse => json(404, { error: "endpoint not found" }, "lb.unknown-endpoint");

export const tooLarge = (): HttpResponse => json(413, { error: "request body too large" }, "lb.body-limit");

export const webSocket = (): HttpResponse =>
  json(501, { error: "the emulator does not support WebSocket connections" }, "lb.websocket");

export const noWorker = (): HttpResponse => json(400, { error: "timed out waiting for worker" }, "lb.hold");

export const workerTimeout = (): HttpResponse => json(400, { error: "worker_timeout" }, "lb.strict");

export const workerGone = (): HttpResponse => json(404, { error: "affinity_worker_gone" }, "lb.strict");

export const unreachable = (): HttpResponse => json(502, { error: "bad gateway" }, "lb.unreachable");

export const processingTimeout = (): HttpResponse => json(524, { error: "timeout" }, "lb.processing");
