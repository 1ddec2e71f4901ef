import { assumed, documented, observed } from "./level";

/**
 * REST v2. "Documented" here means in the service's own documentation of REST v2, which the
 * contract does not include.
 */
export const restV2 = {
  "v2.paths": documented(
    "/v2/serverless, /v2/templates, /v2/network-volumes, /v2/registries, /v2/account, /v2/catalog and /v2/pods.",
  ),
  "v2.other-paths": assumed("Any other path below these returns 404."),
  "v2.method": documented("A method that a path does not have returns 405."),
  "v2.bearer": documented("The key is read from Authorization: Bearer; without a valid one, 401."),
  "v2.unauthorized-body": assumed('The detail of a 401 for a wrong key is "invalid bearer token".'),
  "v2.forbidden": documented("A valid key without permission returns 403."),
  "v2.problem": documented("Errors have the form of RFC 9457 with title, status, detail and, for a body, errors."),
  "v2.malformed": assumed("A body that is not JSON returns 400."),
  "v2.validation": documented("A missing, unknown or wrong field of a body returns 422, which names each."),
  "v2.request-id": observed("Every response has x-request-id."),
  "v2.rate-limit": documented(
    "Every response to a valid key has RateLimit and RateLimit-Policy; a request over the limit returns 429 with Retry-After.",
  ),
  "v2.rate-windows": assumed("Rate-limit windows are fixed, and begin with the first request."),
  "v2.pagination": observed("Lists have pages of 1 to 1000 records with a cursor; an invalid one returns 422."),
  "v2.newest-first": observed("The list of endpoints begins with the newest."),
  "v2.list-lag": assumed("A list can lag behind a change, and the read of one record by 2.5 s at most."),
  "v2.unknown-id": documented("An unknown id returns 404."),
  "v2.create-status": documented("A create returns 201 with the record."),
  "v2.patch": documented("A change keeps the fields that it leaves out, and returns the whole record."),
  "v2.delete-status": documented("A deletion returns 204 without a body; after that, 404."),
  "v2.exclusions": observed(
    "An excluded GPU type that is in none of the pools, and exclusions that leave no type, return 400 (2026-09); the message is assumed.",
  ),
  "v2.start-command": observed(
    "Endpoints and templates accept entrypoint and cmd, and always show them; [] clears them (2026-09). They have no effect here.",
  ),
  "v2.gpu": documented("A create needs gpu or cpu: both or neither returns 400."),
  "v2.cpu": documented("cpu lists different flavors, each with 2, 4, 8, … vCPUs; otherwise 422."),
  "v2.cpu-shown": documented("An endpoint on CPUs has cpu, with the memory of each, and gpu null."),
  "v2.compute-fixed": documented("A change of gpu of an endpoint on CPUs, or of cpu of one on GPUs, returns 400."),
  "v2.type-fixed": documented("type in a change returns 422."),
  "v2.load-balancer-scaling": documented(
    "LOAD_BALANCER needs REQUEST_COUNT, and accepts idleTimeout; the status is assumed.",
  ),
  "v2.request-urls": documented(
    "requestUrls has the URL of each operation on jobs; for a load balancer, base and health.",
  ),
  "v2.timeout": observed("A create without timeout sets 0, which means no limit."),
  "v2.timeout-shown": assumed("An endpoint for which GraphQL set no timeout shows 600000."),
  "v2.gpu-selection": documented(
    "gpu.pools replaces the selection: without excludedTypes, the exclusions are cleared.",
  ),
  "v2.cuda": documented("allowedCudaVersions together with minCudaVersion returns 400."),
  "v2.image": documented("A create needs image or templateId."),
  "v2.template-once": documented(
    "templateId is applied once: its container is copied, and a later change of the template does not reach the endpoint.",
  ),
  "v2.template-unseen": documented("No response shows the template of an endpoint."),
  "v2.template-env": documented("The variables of the body override those of the template in the same body."),
  "v2.template-in-graphql": assumed(
    "GraphQL shows the template that was applied last, and saveEndpoint links it again.",
  ),
  "v2.bound-template": assumed("An endpoint without a template gets one of its own, which no list of REST v2 shows."),
  "v2.bound-change": assumed("A change of its container changes that template, so GraphQL shows the same."),
  "v2.delete-bound": documented("The deletion of an endpoint deletes the template that belongs to it, and no other."),
  "v2.delete-workers": observed("The deletion of an endpoint ends its workers; workersMax need not be 0."),
  "v2.idle-timeout": documented(
    "idleTimeout with REQUEST_COUNT is rejected with 422 and the detail of a capture of 2026-08-18, and no response has it.",
  ),
  "v2.data-centers": assumed("A data center outside the catalog returns 400."),
  "v2.countries": assumed("An endpoint whose locations hold countries shows all their data centers."),
  "v2.volumes": documented("networkVolumes holds several volumes, and is replaced as a whole."),
  "v2.quota": observed("workersMax over the quota returns 400 with the same message as GraphQL."),
  "v2.workers": documented("GET /v2/serverless/{id}/workers returns the live workers with their status."),
  "v2.worker-states": observed(
    "A worker is RUNNING, IDLE, INITIALIZING, THROTTLED or UNHEALTHY; the counts add up to total.",
  ),
  "v2.stale": documented("isStale: the worker has an older version than its endpoint."),
  "v2.releases": documented("GET /v2/serverless/{id}/releases lists the versions of an endpoint, the newest first."),
  "v2.release-diff": observed("A release shows each changed field with its old and new value, secrets in plain text."),
  "v2.rollout": documented(
    "rollout counts the workers of the newest version. Without workers, percentOnLatest is 0 and nothing is in progress.",
  ),
  "v2.logs": documented(
    "GET /v2/serverless/{id}/workers/{workerId}/logs sends server-sent events with source, line and ts, and does not end.",
  ),
  "v2.logs-worker": documented("The log of an unknown worker returns 404."),
  "v2.logs-parameters": documented("source is container or system, tail 0 to 5000 (100), since a time."),
  "v2.logs-invalid": assumed("Any other value returns 422."),
  "v2.logs-resume": documented("Last-Event-ID continues after a line, and beats tail and since."),
  "v2.pod-template": documented("A pod template returns 422."),
  "v2.unknown-template": documented("An unknown template returns 404."),
  "v2.template-in-use": observed(
    "Deleting a template that a pod, or an endpoint created over GraphQL, uses returns 400.",
  ),
  "v2.template-defaults": documented("A new template has serverless false, startSsh true and startJupyter true."),
  "v2.volume-shrink": documented("A smaller size of a volume returns 400."),
  "v2.registry-in-use": documented(
    "A registry credential that a pod uses cannot be deleted; a template that uses it loses it.",
  ),
  "v2.registry-fixed": documented("A registry credential cannot be changed: 405."),
  "v2.pod": documented("GET /v2/pods/{id} returns a pod, and 404 for a worker."),
  "v2.tags": assumed("There are no tags: /v2/tags returns 404. What a service with tags shows is not known yet."),
  "v2.pod-fields": documented("A pod has status, cost, disk, mounts and runtime in place of the names of REST v1."),
};
