/**
 * Every rule of the service's published description that the client follows. The tests in test/sdk
 * name a rule by its id in brackets in their title (`… [contract.run]`); a test fails if a rule has
 * none.
 * @type {Readonly<Record<string, { readonly source: string, readonly rule: string }>>}
 */
const contract = {
  ...from("Queue-based job API", {
    runsync: "Submit a synchronous job: `POST /runsync`, query `wait`",
    run: "Submit an asynchronous job: `POST /run`",
    status: "Read a job: `GET /status/{job_id}`",
    "status-ttl": "Read a job: query `ttl` sets its time to live",
    stream: "Read incremental output: `GET /stream/{job_id}`",
    "stream-chunks": "Streamed chunk: at most 1 MB; larger output is split",
    cancel: "Cancel a job: `POST /cancel/{job_id}`",
    retry: "Retry a job: `POST /retry/{job_id}`",
    "retry-states": "`/retry` works only for `FAILED` and `TIMED_OUT`",
    "purge-queue": "Purge the queue: `POST /purge-queue`, waiting jobs only",
    health: `Health: \`GET /health\` with ${names(
      "jobs.completed jobs.failed jobs.inProgress jobs.inQueue jobs.retried workers.idle workers.running",
    )}`,
    requests: "`GET /requests`, whose shape is not shown",
    openai: "`POST /openai/*`, whose shape is not shown",
  }),
  ...from("Job request body", {
    "request-fields": "Job request: `input` (object, required), `webhook` (URL), `policy.lowPriority` (boolean)",
    "request-policy":
      "Job request: `policy.executionTimeout` from 5 s to 7 days, `policy.ttl` from 10 s to 7 days, in ms",
    "request-ttl-default": "Job request: `policy.ttl` is 24 hours by default",
    "request-s3-config": "Job request: `s3Config` with `accessId`, `accessSecret`, `bucketName`, `endpointUrl`",
  }),
  ...from("Records of the queue", {
    "job-id": "Job: `id`",
    "job-fields": "Job: `status`, `delayTime`, `executionTime`",
    "job-output": "Job: `output`",
    "stream-output": "Stream item: `output`",
    "stream-metrics": "Stream item: `metrics`",
    "cancel-result": "Cancel result: `id`, `status`",
    "purge-result": "Purge result: `removed`, `status`",
  }),
  ...from("REST: find a pod by id", {
    "find-pod": "Find a pod by its id: `GET /v1/pods/{podId}`",
    "find-pod-includes":
      "Find a pod by its id: queries `includeMachine`, `includeNetworkVolume`, `includeSavingsPlans`, `includeTemplate`, `includeWorkers`",
  }),
  ...from("Pod", {
    "pod-fields": `Pod: ${names(
      "id name image desiredStatus adjustedCostPerHr costPerHr aiApiId endpointId slsVersion consumerUserId",
      "containerDiskInGb containerRegistryAuthId cpuFlavorId dockerEntrypoint dockerStartCmd env gpu interruptible",
      "lastStartedAt lastStatusChange locked machine machineId memoryInGb networkVolume portMappings ports publicIp",
      "savingsPlans template templateId vcpuCount volumeEncrypted volumeInGb volumeMountPath",
    )}`,
    "gpu-fields": `GPU: ${names(
      "id count displayName securePrice communityPrice oneMonthPrice threeMonthPrice sixMonthPrice oneWeekPrice",
      "communitySpotPrice secureSpotPrice",
    )}`,
    "machine-fields": `Machine: ${names(
      "minPodGpuCount gpuTypeId gpuType cpuCount cpuTypeId cpuType location dataCenterId diskThroughputMBps",
      "maxDownloadSpeedMbps maxUploadSpeedMbps supportPublicIp secureCloud maintenanceStart maintenanceEnd",
      "maintenanceNote note costPerHr currentPricePerGpu gpuAvailable gpuDisplayName cpuType.id",
      "cpuType.displayName cpuType.groupId cpuType.cores cpuType.threadsPerCore",
    )}`,
    "network-volume-fields": `Network volume: ${names("id name size dataCenterId")}`,
    "savings-plan-fields": `Savings plan: ${names("costPerHr endTime gpuTypeId id podId startTime")}`,
    "pod-states": "Pod states: `RUNNING`, `EXITED`, `TERMINATED`, and others",
  }),
  ...from("GraphQL: Serverless endpoint management", {
    "create-endpoint": "Create an endpoint: `saveEndpoint(input)`",
    "modify-endpoint": "Modify an endpoint: `saveEndpoint(input)` with `id`",
    "list-endpoints": "List endpoints: `myself { endpoints }`",
    discount: "Read the discount: `myself { serverlessDiscount }` with `discountFactor`, `type`, `expirationDate`",
    "delete-endpoint": "Delete an endpoint: `deleteEndpoint(id)` after `workersMin` and `workersMax` are 0",
    "graphql-body": "A GraphQL request has a body of one field, `query`",
    "gpu-ids": "Values of `gpuIds`",
    locations: "Values of `locations`",
    "flash-boot-type": "Values of `flashBootType`: an enum, not a string",
    "scaler-type": "Values of `scalerType`",
  }),
  ...from("Serverless endpoint", {
    "endpoint-id": "Endpoint: `id`",
    "endpoint-fields": `Endpoint: ${names(
      "name gpuIds templateId idleTimeout locations flashBootType scalerType scalerValue workersMin workersMax",
      "networkVolumeId",
    )}`,
    "endpoint-pods": "Endpoint: `pods[].desiredStatus`",
  }),
  ...from("States and transitions", {
    "in-queue": "Job state `IN_QUEUE`",
    "in-progress": "Job state `IN_PROGRESS`, whose `output` is not a result",
    completed: "Job state `COMPLETED`",
    failed: "Job state `FAILED`; worker errors or input validation problems",
    cancelled: "Job state `CANCELLED`",
    "timed-out": "Job state `TIMED_OUT`",
    "unknown-state": "An unknown job state: the job has not ended",
    "ttl-elapsed": "The ttl has elapsed: the job is deleted, and its status is 404",
    "retention-elapsed": "The retention has elapsed: the result is missing",
    "job-purged": "The job was purged",
  }),
  ...from("Authentication", {
    bearer: "Queue and REST: the key in the header `authorization: Bearer`",
    "api-key": "GraphQL: the key in the query `api_key`",
  }),
  ...from("Events", {
    webhook: "Webhook: a response of 200, else up to 2 more tries; duplicates are possible",
  }),
  ...from("Errors", {
    "error-statuses":
      "400 Bad Request, 401 Unauthorized, 404 Not Found, 429 Too Many Requests, 500 Internal Server Error",
    "stays-in-queue": "Job stays in queue",
    "execution-timeout": "Timeout errors: the job runs longer than its execution timeout",
    "other-shape": "A response of a different shape",
    "submit-lost": "A submit whose response was lost",
    "retry-lost": "A retry whose response was lost",
    "purge-lost": "A purge whose response was lost",
    "stream-lost": "A read of a stream whose response was lost",
  }),
  ...from("Limits", {
    payload: "Payload: 20 MB for `/runsync`, 10 MB for `/run`",
    "runsync-wait": "`/runsync` wait: 1,000 to 300,000 ms, 90,000 by default",
    "run-retention": "Result retention of `/run`: 30 minutes",
    "runsync-retention": "Result retention of `/runsync`: 1 minute",
    "ttl-and-timeout": "`ttl` and `executionTimeout` are independent",
    "rate-runsync": "Rate of `/runsync`: 2,000 per 10 s, 400 concurrent",
    "rate-status": "Rate of `/status`: 2,000 per 10 s, 400 concurrent",
    rates:
      "Rates per 10 s and concurrent: `/run` 1,000 and 200, `/stream` 2,000 and 400, `/cancel` 100 and 20, `/purge-queue` 2, `/openai/*` 2,000 and 400, `/requests` 10 and 2",
    "rate-workers": "Dynamic rule: running workers raise the limit",
    "rate-exceeded": "Requests over the limit get 429",
  }),
};

/**
 * @param {string} source the section of the service's description
 * @param {Readonly<Record<string, string>>} rules
 */
function from(source, rules) {
  return Object.fromEntries(Object.entries(rules).map(([id, rule]) => [`contract.${id}`, { source, rule }]));
}

/** @param {string[]} lists names, separated by spaces */
function names(...lists) {
  return lists
    .join(" ")
    .split(" ")
    .map((name) => `\`${name}\``)
    .join(", ");
}

module.exports = { contract };
