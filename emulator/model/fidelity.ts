/**
 * The behaviour of the emulator, one row for each rule, with the evidence for it. Tests name the id
 * of a row in brackets in their title (`[graphql.wrong-key] …`); every row needs one.
 * `docs/contributing/emulator-fidelity.md` is generated from this file.
 */

/**
 * The behaviour to emulate: that of the published contract, or that observed at a running service.
 */
export type Profile = "contract" | "observed";

/** The evidence: `documented` in the contract, `observed` at a running service, or `assumed`. */
export type Level = "documented" | "observed" | "assumed";

interface Row {
  readonly level: Level;
  readonly text: string;
}

const documented = (text: string): Row => ({ level: "documented", text });
const observed = (text: string): Row => ({ level: "observed", text });
const assumed = (text: string): Row => ({ level: "assumed", text });

/** All interfaces: paths and sizes. */
const server = {
  "server.unknown-path": assumed("A path outside the interfaces returns 404."),
  "server.too-large": assumed("A GraphQL or REST request with a body over 20 MB returns 413."),
};

/** GraphQL: requests, keys and responses. */
const graphql = {
  "graphql.wrong-key": documented("A wrong key returns 401."),
  "graphql.unauthorized-body": assumed('The body of a 401 is {"errors":[{"message":"Unauthorized"}]}.'),
  "graphql.no-key": assumed("No key returns 401 in the contract profile."),
  "graphql.no-key-observed": observed('No key returns 200 with {"data":{"myself":null}} in the observed profile.'),
  "graphql.no-key-mutation": assumed(
    'A change without a key returns 200 with the error "Unauthorized" (observed profile).',
  ),
  "graphql.no-permission": documented("A key without permission returns 401 in the contract profile."),
  "graphql.no-permission-observed": observed(
    'A key without permission returns 200 with the error "Unauthorized" and myself: null in the observed profile.',
  ),
  "graphql.key-in-query": documented("The key is read from the query parameter api_key."),
  "graphql.bearer": observed("The observed profile reads the key from Authorization: Bearer as well."),
  "graphql.bearer-refused": assumed("The contract profile reads no key from a header: 401."),
  "graphql.post-only": assumed("Any method except POST returns 405."),
  "graphql.malformed": assumed(
    "A body that is not JSON, has no query, or has a query that cannot be parsed returns 400.",
  ),
  "graphql.validation": observed(
    "An unknown field, a wrong type or a quoted enum returns 400 with the code GRAPHQL_VALIDATION_FAILED.",
  ),
  "graphql.business-error": observed(
    'A broken rule returns 200 with errors, each with message, path and the code "RUNPOD"; the messages are assumed.',
  ),
  "graphql.selection": documented("The response has the selected fields of the operation's result under data."),
  "graphql.quota": assumed(
    "With limits of GraphQL, a request over one returns 429, without headers. The windows are those of REST v2.",
  ),
  "graphql.variables": assumed("Variables and operationName are accepted in addition to query."),
};

/** GraphQL: `saveEndpoint`. */
const save = {
  "save.create": documented("An input without an id creates an endpoint and assigns its id."),
  "save.fields": documented("All fields of the endpoint record are stored and shown."),
  "save.required": documented("name, gpuIds and templateId are required."),
  "save.modify": documented("An input with the id of an endpoint changes that endpoint."),
  "save.defaults": observed(
    "A new endpoint has idleTimeout 10, scalerValue 4, workersMin 0, workersMax 3 unless the input sets them.",
  ),
  "save.unset": assumed(
    'Fields never set: locations "", flashBootType null, scalerType QUEUE_DELAY, networkVolumeId null.',
  ),
  "save.reset": observed("idleTimeout, scalerValue, workersMin and workersMax are reset if a change omits them."),
  "save.keep": observed("locations, flashBootType, scalerType and networkVolumeId are kept if a change omits them."),
  "save.clear": observed('locations and networkVolumeId are cleared by null and by "".'),
  "save.flash-boot-null": assumed("flashBootType null clears FLASHBOOT in the contract profile."),
  "save.flash-boot-null-observed": assumed("flashBootType null keeps its value in the observed profile."),
  "save.flash-boot-off": documented("FLASHBOOT is the only value of flashBootType in the contract profile."),
  "save.flash-boot-off-observed": observed("flashBootType OFF clears FLASHBOOT in the observed profile."),
  "save.flash-boot-suffix": observed(
    'The observed profile shows the name of an endpoint with FLASHBOOT with the suffix " -fb".',
  ),
  "save.flash-boot-shown": assumed("The observed profile shows flashBootType OFF where none is set."),
  "save.null-default": assumed("null for a field that has a default is refused as a validation error."),
  "save.scaler-type-null": assumed("scalerType null keeps its value."),
  "save.round-trip": documented("name is any string and is returned unchanged."),
  "save.unknown-id": assumed('An unknown id is refused with a message that contains "not found".'),
  "save.gpu-ids": documented(
    "gpuIds accepts AMPERE_16, AMPERE_24, ADA_24, AMPERE_48, ADA_48_PRO, AMPERE_80, ADA_80_PRO.",
  ),
  "save.gpu-list": observed("gpuIds accepts a comma list of tiers, and of GPU types to exclude with a leading minus."),
  "save.newer-tiers": observed(
    "The observed profile also accepts the tiers ADA_32_PRO, HOPPER_141, BLACKWELL_96 and BLACKWELL_180.",
  ),
  "save.unknown-tier": assumed("An unknown tier, or no tier, is refused."),
  "save.locations": documented("locations accepts CZ, FR, GB, NO, RO and US, as a comma list."),
  "save.any-region": documented('locations "" or null means any region.'),
  "save.data-center": observed("locations accepts data centers such as EU-RO-1."),
  "save.unknown-location": assumed("An unknown location is refused."),
  "save.scaler-type": documented("scalerType accepts QUEUE_DELAY and REQUEST_COUNT."),
  "save.unknown-scaler-type": assumed("An unknown scalerType is refused."),
  "save.ranges": assumed(
    "An empty name or templateId, a negative number, a scalerValue of 0 and workersMax below workersMin are refused.",
  ),
  "save.any-template": assumed("Any non-empty templateId is accepted unless a list of templates is set."),
  "save.unknown-template": observed(
    'If templates are named by an option or a seed, another templateId is refused with "Unable to find template".',
  ),
  "save.deleted-template": assumed("The id of a deleted template is refused in any case."),
  "save.pod-template": assumed("A template that is not a serverless template is refused."),
  "save.any-volume": assumed("Any networkVolumeId is accepted unless volumes are named by an option or a seed."),
  "save.unknown-volume": assumed(
    "If volumes are named by an option or a seed, another networkVolumeId is refused, and that of a deleted one always.",
  ),
  "save.no-quota": assumed("Without a quota option, there is no quota of workers."),
  "save.quota": observed(
    "The sum of workersMax over all endpoints must stay within the quota; the message is assumed.",
  ),
  "save.whole-scaler-value": observed("scalerValue is a whole number (Int) in the observed profile."),
  "save.observed-fields": assumed(
    "The observed profile stores and shows the other fields of the service's clients (gpuCount, allowedCudaVersions, env, …); they have no effect.",
  ),
  "save.observed-defaults": observed(
    "A change that omits them sets gpuCount to 1, workersPFBTarget to 0 and instanceIds to null (observed profile).",
  ),
  "save.observed-kept": observed(
    "A change that omits them keeps minCudaVersion, allowedCudaVersions, modelReferences and compliance (observed profile).",
  ),
  "save.observed-reset": assumed(
    "A change that omits them resets the other fields of the service's clients: type, executionTimeoutMs, networkVolumeIds, env, … (observed profile).",
  ),
  "save.cpu": observed(
    'An endpoint with instanceIds has gpuIds "", and gpuCount or CUDA versions beside them are refused (observed profile); the message is assumed.',
  ),
  "save.sources": assumed(
    "An endpoint shows its repo, its hubRelease and its flashEnvironmentId, null where it has none (observed profile).",
  ),
  "save.standby": assumed("workersStandby can be set, and is workersMin otherwise (observed profile)."),
  "save.inline-template": assumed("A template inside saveEndpoint is refused."),
  "save.priority-flashboot": assumed("PRIORITY_FLASHBOOT counts as FLASHBOOT (observed profile)."),
  "save.endpoint-template": observed("updateEndpointTemplate changes the template of an endpoint (observed profile)."),
  "save.workers": documented("An endpoint keeps workersMin workers, seen in pods."),
};

/** GraphQL: templates. */
const template = {
  "template.input": observed(
    "saveTemplate requires name, dockerArgs, containerDiskInGb, volumeInGb and env; null for them is a validation error.",
  ),
  "template.create": observed(
    "saveTemplate without an id creates a template and assigns an id of 10 letters and digits.",
  ),
  "template.modify": observed("saveTemplate with the id of a template changes that template, name included."),
  "template.replace": assumed("A nullable field that saveTemplate leaves out is reset; env is replaced as a whole."),
  "template.list": observed("myself.podTemplates lists all templates with their fields, pod templates included."),
  "template.get": observed("podTemplate returns one template by its id."),
  "template.get-unknown": assumed("podTemplate returns null for an unknown id."),
  "template.list-lag": observed("A list, and podTemplate, can lag behind a change; podTemplate by 2.5 s at most."),
  "template.list-cap": assumed(
    "In the observed profile myself.podTemplates, networkVolumes and containerRegistryCreds show the 400 oldest.",
  ),
  "template.unknown-id": assumed(
    'saveTemplate with an unknown id is refused with a message that contains "not found".',
  ),
  "template.ranges": assumed("An empty name or imageName, and a negative size, are refused."),
  "template.serverless-volume": assumed("A serverless template whose volumeInGb is not 0 is refused."),
  "template.serverless-fixed": assumed("isServerless of a template cannot be changed."),
  "template.env-limit": assumed("More than 50 environment variables are refused."),
  "template.unique-name": observed(
    'A name that any template of the account has, pod templates included, is refused with "Template name must be unique".',
  ),
  "template.taken-name": assumed("So is a name that another account has, which an option names."),
  "template.deleted-name": assumed("The name of a deleted template is free again, unless an option reserves it."),
  "template.registry-auth-clear": observed('containerRegistryAuthId "" clears the reference.'),
  "template.unknown-registry-auth": assumed(
    "If credentials are named by an option or a seed, an unknown containerRegistryAuthId is refused, and that of a deleted one always.",
  ),
  "template.secret-references": assumed("{{ RUNPOD_SECRET_x }} in the value of a variable stays as it is."),
  "template.delete": observed(
    "deleteTemplate deletes the template with a name; data.deleteTemplate is null in any case.",
  ),
  "template.unknown-name": assumed(
    'deleteTemplate with an unknown name is refused with a message that contains "not found".',
  ),
  "template.in-use": observed(
    "A template that an endpoint, a worker or a pod uses cannot be deleted; the message is assumed.",
  ),
  "template.recently-used": observed(
    "In the observed profile, it cannot be deleted for 2 minutes after its last use either; the message is assumed.",
  ),
  "template.no-wait": assumed("In the contract profile, it can be deleted as soon as nothing uses it."),
};

/** GraphQL: network volumes. */
const volume = {
  "volume.input": observed(
    "createNetworkVolume requires dataCenterId, updateNetworkVolume and deleteNetworkVolume require id.",
  ),
  "volume.create": observed("createNetworkVolume creates a volume and assigns an id of 10 letters and digits."),
  "volume.same-name": observed("The name of a volume need not be unique."),
  "volume.no-name": assumed("A volume without a name has an empty one."),
  "volume.list": observed("myself.networkVolumes lists all volumes with their fields."),
  "volume.modify": observed("updateNetworkVolume changes name and size; what it leaves out is kept (assumed)."),
  "volume.fixed": observed("updateNetworkVolume accepts neither a data center nor a tier."),
  "volume.size": assumed("A size outside 10 to 4096 GB is refused."),
  "volume.shrink": observed("In the contract profile, a smaller size is refused; the message is assumed."),
  "volume.shrink-observed": observed("In the observed profile, a smaller size is accepted and shown."),
  "volume.storage-type": assumed("storageType is VAST with isNextGenStorage, else CEPH_FS."),
  "volume.data-center": observed(
    "A data center without support for volumes is refused with a message that lists those with it; the list is assumed.",
  ),
  "volume.any-location": assumed("locations of an endpoint may exclude the data center of its volume."),
  "volume.nonexistent": observed(
    'deleteNetworkVolume with an unknown id is refused with "Tried to delete nonexistent network volume".',
  ),
  "volume.in-use": observed("A volume that an endpoint or a pod uses cannot be deleted; the message is assumed."),
};

/** GraphQL: registry credentials. */
const registry = {
  "registry.input": observed("saveRegistryAuth requires name, username, password; updateRegistryAuth has no name."),
  "registry.create": observed("saveRegistryAuth creates a credential and assigns an id such as cmoc95oxr…"),
  "registry.update": observed("updateRegistryAuth replaces user name and password, and keeps the id."),
  "registry.list": observed("myself.containerRegistryCreds lists all credentials with id and name only."),
  "registry.hidden": assumed("GraphQL has no field for the user name and the password."),
  "registry.unique-name": observed("A name that another credential has is refused; the message is assumed."),
  "registry.not-empty": assumed("An empty name, user name or password is refused."),
  "registry.unknown-id": assumed('An unknown id is refused with a message that contains "not found".'),
  "registry.delete": observed("deleteRegistryAuth deletes a credential; data.deleteRegistryAuth is null in any case."),
  "registry.in-use": assumed(
    "While a pod, or the template of an endpoint, uses it, deleteRegistryAuth fails with INTERNAL_SERVER_ERROR.",
  ),
  "registry.reference": observed("Other templates lose their reference to a deleted credential."),
};

/** GraphQL: `deleteEndpoint`. */
const remove = {
  "delete.done": documented("deleteEndpoint returns data.deleteEndpoint null, and the endpoint is deleted."),
  "delete.workers-not-zero": documented("workersMin and workersMax must both be 0; the message is assumed."),
  "delete.draining": observed("A deletion is refused while workers are still stopping; the message is assumed."),
  "delete.unknown-id": assumed('An unknown id is refused with a message that contains "not found".'),
  "delete.same-data": observed("A refused deletion has the same data as a successful one; only errors differs."),
};

/** GraphQL: `myself`. */
const myself = {
  "myself.endpoints": documented("myself.endpoints lists all endpoints with their fields."),
  "myself.list-cap": observed("In the observed profile myself.endpoints shows the 400 oldest endpoints."),
  "myself.endpoint": observed("In the observed profile myself.endpoint(id) returns any one endpoint, or null."),
  "myself.endpoint-lag": assumed("myself.endpoint can lag behind a change by 2.5 s at most, a list by more."),
  "myself.pods": documented("pods lists the desiredStatus of an endpoint's workers."),
  "myself.version": observed("In the observed profile an endpoint shows its version, which grows with each change."),
  "myself.pod-ids": assumed("In the observed profile pods show their ids, too."),
  "myself.discount": documented("serverlessDiscount has discountFactor, type and expirationDate."),
  "graphql.pods": assumed("In the observed profile myself.pods and pod show pods; the contract has them only in REST."),
  "myself.user": assumed(
    "The observed profile has one user without an e-mail address, and one type of GPU for each tier.",
  ),
  "myself.no-discount": documented("serverlessDiscount may be null."),
};

/** REST: pods. */
const rest = {
  "rest.pod": documented("GET /v1/pods/{podId} returns 200 with all fields of the pod."),
  "rest.bearer": documented("The key is read from Authorization: Bearer."),
  "rest.wrong-key": documented("A wrong key, and a key without permission, return 401."),
  "rest.unauthorized-body": assumed('The body of a 401 is {"error":"unauthorized","status":401}.'),
  "rest.unknown-pod": observed('An unknown pod returns 404 with {"error":"pod not found","status":404}.'),
  "rest.bad-flag": observed("An include flag that is neither true nor false returns 400 with error and problems."),
  "rest.get-only": assumed("Any method except GET returns 405."),
  "rest.other-paths": assumed("Any other path under /v1 returns 404."),
  "rest.flags-default": documented("All five include flags are false by default."),
  "rest.include-machine": documented("includeMachine adds the machine."),
  "rest.include-network-volume": documented("includeNetworkVolume adds the attached network volume, if any."),
  "rest.include-savings-plans": documented(
    "includeSavingsPlans adds the savings plans; an empty list when none apply.",
  ),
  "rest.include-template": documented("includeTemplate adds the template, if any; its fields are assumed."),
  "rest.include-workers": documented(
    "includeWorkers also finds pods that are workers, with endpointId, aiApiId and slsVersion.",
  ),
  "rest.worker-needs-flag": assumed("A pod that is a worker is found only with includeWorkers=true; else 404."),
  "rest.states": documented("desiredStatus is RUNNING, EXITED or TERMINATED."),
  "rest.name-length": documented("A pod's name has at most 191 characters."),
  "rest.optional-fields": documented("Conditional fields are absent while their condition is not met."),
  "rest.observed-spelling": observed(
    "The observed profile sends costPerHr as a numeric string and the image as imageName.",
  ),
};

/** Queue: jobs, workers, webhooks, rate limits. */
const queue = {
  "queue.key": documented("The key is read from the header authorization, with or without Bearer."),
  "queue.wrong-key": documented("A wrong key, and a key without permission, returns 401."),
  "queue.unauthorized-body": observed('The body of a 401 is {"status":401,"title":"Unauthorized","detail":…}.'),
  "queue.error-body": assumed("400, 404 and 429 have bodies of the same form as 401."),
  "queue.unknown-endpoint": documented("An unknown endpoint id returns 404."),
  "queue.unknown-operation": assumed("An unknown path below an endpoint, or its wrong method, returns 404."),
  "queue.unknown-job": documented("An unknown job id returns 404."),
  "queue.bad-request": documented("A malformed request or parameter returns 400."),
  "queue.null-fields": assumed("null in an optional field of a job request counts as absent."),
  "queue.out-of-range": assumed("A wait, ttl or executionTimeout outside its range returns 400."),
  "queue.too-large": assumed("A body over the operation's limit returns 400."),
  "queue.sizes": documented("The body of /run may have 10 MB, that of /runsync 20 MB."),
  "queue.run": documented("/run returns id and IN_QUEUE immediately; the job is processed later."),
  "queue.runsync": documented("/runsync waits for the job and returns its record."),
  "queue.runsync-wait": documented("wait limits the time that /runsync waits: 1000 to 300000 ms, 90000 by default."),
  "queue.runsync-elapsed": observed("When wait elapses, /runsync returns 200 with the present state of the job."),
  "queue.status": documented("/status returns id, status, delayTime, executionTime and, once there is one, output."),
  "queue.times": observed(
    "delayTime and executionTime are milliseconds; those of a job in progress continue to increase.",
  ),
  "queue.status-ttl": documented(
    "The query parameter ttl of /status sets the time to live of the job, counted from its submission.",
  ),
  "queue.status-sync": observed(
    "In the observed profile /status-sync returns the job's record when the job has ended, or when wait elapses.",
  ),
  "queue.status-sync-wait": assumed("wait of /status-sync has the range and the default of /runsync."),
  "queue.status-sync-limit": assumed("/status-sync counts towards the limits of /status."),
  "queue.progress": observed("While a job is in progress, its output is its last progress update."),
  "queue.error": observed("A failed job has the error that its handler threw."),
  "queue.error-json": observed("In the observed profile error is a JSON string with error_type and error_message."),
  "queue.worker-id": observed("In the observed profile a job has the id of its worker."),
  "queue.stream": documented("/stream returns an array of items, each with output and metrics."),
  "queue.stream-observed": observed("In the observed profile /stream returns status in addition to the items."),
  "queue.stream-hold": assumed(
    "In the observed profile /stream waits up to 0.5 s for an item, or for the end of the job.",
  ),
  "queue.short-execution-timeout": assumed(
    "In the observed profile executionTimeout may be any number of milliseconds from 1.",
  ),
  "queue.stream-drains": observed("Each read of /stream returns the items since the last read."),
  "queue.stream-chunk": documented("A streamed chunk has at most 1 MB; larger output is split into several."),
  "queue.stream-split": assumed(
    "Split output arrives as strings: the pieces of a string, or of the JSON of another value.",
  ),
  "queue.stream-result": assumed(
    "The output of a streaming job is the return value of its generator or, without one, the list of its items.",
  ),
  "queue.stream-unsupported": assumed("/stream of a handler that does not stream is empty."),
  "queue.cancel": documented("/cancel removes a waiting job, stops a running one, and returns CANCELLED."),
  "queue.cancel-ended": assumed("/cancel of a job that has ended returns 200 with its actual status."),
  "queue.retry": documented("/retry queues a FAILED or TIMED_OUT job again: same id and input, output removed."),
  "queue.retry-wrong-state": assumed("/retry of a job in any other state returns 400."),
  "queue.purge": documented("/purge-queue removes only the waiting jobs and returns their number."),
  "queue.purged-job": assumed("A purged job is unknown: 404."),
  "queue.health": documented(
    "/health counts jobs (completed, failed, inProgress, inQueue, retried) and workers (idle, running).",
  ),
  "queue.health-observed": observed(
    "In the observed profile /health counts initializing, ready, throttled and unhealthy workers, too.",
  ),
  "queue.health-totals": assumed(
    "completed, failed (TIMED_OUT among them) and retried count since the endpoint was created; retried counts /retry and jobs whose worker died.",
  ),
  "queue.requests": assumed("/requests lists the last 100 jobs, newest first, without their output."),
  "queue.openai": assumed("/openai/* submits a job, which waits for a worker like any other, and returns its output."),
  "queue.openai-input": observed(
    "The input of this job has openai_route, such as /v1/models, and openai_input, the body.",
  ),
  "queue.openai-stream": assumed(
    "With stream: true, pieces that are strings are sent as they are, any other as a server-sent event; then data: [DONE].",
  ),
  "queue.openai-error": assumed(
    "An error of /openai/* is { error: { message, type, param, code } }: 500 for a job that failed, else the code that the worker returned.",
  ),
  "queue.openai-cut": assumed("When the client ends its connection to /openai/*, the job is cancelled."),
  "queue.openai-model": assumed(
    "A worker without a handler is an OpenAI server whose model repeats the last message: models, chat, completions, embeddings, responses.",
  ),
  "queue.execution-timeout": observed(
    'A job that passes its executionTimeout becomes FAILED, "executionTimeout exceeded".',
  ),
  "queue.execution-timeout-limits": documented(
    "executionTimeout is 10 minutes unless the job says otherwise: 5 s to 7 days.",
  ),
  "queue.lost-worker": observed(
    'A job whose worker dies is queued again once, then FAILED with "job timed out after 1 retries".',
  ),
  "queue.timed-out": documented("A job can be TIMED_OUT, and can then be retried."),
  "queue.ttl": documented("A job is deleted when its ttl is over, in any state, even while it runs: 404."),
  "queue.ttl-limits": documented("ttl is 24 hours unless the job says otherwise: 10 s to 7 days."),
  "queue.retention": documented("Results are kept for 30 minutes (/run) or 1 minute (/runsync) after the job ended."),
  "queue.retention-max": assumed(
    "The query parameter ttl of /status keeps the result of /runsync longer, up to 5 minutes.",
  ),
  "queue.forgotten": assumed("A job whose result is no longer kept returns 404 for every operation."),
  "queue.webhook": documented("The URL in webhook is notified when the job completes."),
  "queue.webhook-body": observed("A webhook is a POST of the whole job as JSON, unsigned."),
  "queue.webhook-tries": documented("A failed webhook is retried twice, 10 s apart; only status 200 counts."),
  "queue.webhook-tries-observed": observed("In the observed profile any 2xx counts, and the pauses are 5 s and 15 s."),
  "queue.webhook-failed": observed("A webhook that cannot be delivered does not change the job."),
  "queue.webhook-states": assumed("FAILED and TIMED_OUT are notified too, CANCELLED is not."),
  "queue.webhook-loopback": assumed("Webhooks go to loopback addresses only, unless an option allows others."),
  "queue.rate-limits": documented(
    "Each operation has a limit per 10 s and a limit of concurrent requests; a request over a limit returns 429.",
  ),
  "queue.rate-limits-dynamic": documented("The limit per 10 s is at least running workers times requests_per_worker."),
  "queue.rate-limits-window": assumed(
    "The window of 10 s slides; refused requests do not count; requests_per_worker is 50.",
  ),
  "queue.s3-config": documented("s3Config is passed to the worker and never shown."),
};

/** Workers: their scaling, and how they come and go. */
const workers = {
  "workers.minimum": documented("workersMin workers run without any job."),
  "workers.maximum": documented("No worker starts above workersMax, including workers that drain; other jobs wait."),
  "workers.request-count": observed(
    "REQUEST_COUNT needs one worker for each scalerValue jobs, waiting or in progress.",
  ),
  "workers.queue-delay": observed(
    "QUEUE_DELAY needs one worker for the first job, and one more for each that waited longer than scalerValue seconds.",
  ),
  "workers.low-priority": documented("A job with lowPriority triggers no scaling."),
  "workers.idle-timeout": documented(
    "Under QUEUE_DELAY a worker that is idle for idleTimeout seconds stops, down to workersMin.",
  ),
  "workers.idle-request-count": observed(
    "Under REQUEST_COUNT idleTimeout has no effect: workers that are no longer needed stop.",
  ),
  "workers.idle-request-count-time": assumed("Under REQUEST_COUNT, workers that are no longer needed stop after 4 s."),
  "workers.cold-start": assumed("A new worker takes 200 ms until it accepts jobs, unless an option sets another time."),
  "workers.flashboot": documented("FLASHBOOT makes cold starts faster."),
  "workers.flashboot-factor": assumed("With FLASHBOOT, cold starts take a quarter of the time."),
  "workers.draining": observed(
    "Workers above a lowered workersMax take no more jobs, finish their job, and stop after a while.",
  ),
  "workers.idle-scale-down": observed("workersMax of an endpoint without jobs drops to 2 after 3 days, to 0 after 7."),
  "workers.idle-scale-down-minimum": assumed("workersMin drops with it."),
  "workers.version": documented("A worker's pod shows the version of its endpoint as slsVersion."),
  "workers.container": observed(
    "A worker runs with the image, the command and the variables that its template had when the worker started.",
  ),
  "workers.pod-container": assumed("A worker's pod shows them, and the variables that the service adds."),
  "workers.roll-out": observed(
    "A change of a template's image, command, disk, variables, ports or credential is a new version of its endpoints: idle workers are replaced at once, others after their job.",
  ),
  "workers.roll-out-none": observed("A save that changes none of these is no new version."),
  "workers.roll-out-template": observed("Another templateId of the endpoint replaces the workers in the same way."),
  "workers.stale-flashboot": observed(
    "With an option, workers with FLASHBOOT keep the old version of a changed template until workersMax is 0.",
  ),
};

/** The worker protocol, by which a worker's program takes its jobs. */
const worker = {
  "worker.environment": observed(
    "A worker finds its requests in RUNPOD_WEBHOOK_GET_JOB, _POST_OUTPUT, _POST_STREAM and _PING, and its id in RUNPOD_POD_ID.",
  ),
  "worker.minimal-environment": assumed(
    "A worker inherits PATH, the locale, the time zone and TMPDIR of the emulator, and nothing else; its HOME is empty.",
  ),
  "worker.key": assumed("Each worker has a key of its own; any other key returns 401 after a second."),
  "worker.take": observed("GET job-take returns one job with at least id and input, or 204."),
  "worker.take-batch": observed("GET job-take-batch returns a list of at most batch_size jobs, or 204."),
  "worker.take-wait": assumed("A request for jobs waits until there is one, at most 20 s."),
  "worker.cold-start": assumed(
    "A worker is initializing until it asks for a job; the process's own start is the cold start.",
  ),
  "worker.concurrency": observed("A worker has as many jobs at once as it asks for."),
  "worker.done": observed("POST job-done ends a job: COMPLETED with the output, or FAILED with the error of the body."),
  "worker.done-late": assumed("A result of a job that is over returns 200 and has no effect."),
  "worker.progress": observed("POST job-done with the status IN_PROGRESS is a progress update."),
  "worker.stream": observed("POST job-stream adds an item to the stream of the job."),
  "worker.stop-job": observed("GET job-stop returns the ids of cancelled jobs as jobsToStop, or 204."),
  "worker.stop-job-again": assumed("An id in jobsToStop is returned once more a second later."),
  "worker.ping": observed("GET ping is accepted. It is no proof that a worker lives."),
  "worker.refresh": observed("A worker whose result has stopPod true is replaced."),
  "worker.execution-timeout": assumed("A worker whose job passes its executionTimeout is stopped and replaced."),
  "worker.lost": observed("A job whose worker's process ends is queued again once, then fails."),
  "worker.stop": assumed(
    "A worker that scales down gets SIGTERM, and SIGKILL 10 s later; its whole process group ends.",
  ),
  "worker.failed-start": assumed(
    "A program that ends before it asked for a job is started again after a pause of 0.5 to 30 s, or of 0.5 s if it asked but returned no result.",
  ),
  "worker.init-timeout": assumed(
    "A worker that asks for no job within RUNPOD_INIT_TIMEOUT seconds, 420 by default, is ended and started again.",
  ),
  "worker.orphan": assumed("No process of a worker survives the emulator, even if the emulator is killed."),
};

/** Fault rules for workers. */
const workerFaults = {
  "worker-fault.kill": assumed("killWorker ends a worker when it starts a job, as a lost machine does."),
  "worker-fault.hang": assumed(
    "hangWorker suspends a worker when it starts a job, until the executionTimeout is over.",
  ),
  "worker-fault.throttle": assumed(
    "throttleWorkerMs holds a worker back before its cold start; it counts as throttled.",
  ),
  "worker-fault.image-pull": assumed("imagePullMs makes a cold start longer."),
  "worker-fault.quota": assumed(
    "A quota that is lowered below what is in use refuses later increases of workersMax, and stops no worker.",
  ),
};

/**
 * REST v2. "Documented" is here the service's own description of REST v2, which the contract does
 * not include.
 */
const restV2 = {
  "v2.paths": documented(
    "/v2/serverless, /v2/templates, /v2/network-volumes, /v2/registries, /v2/catalog and /v2/pods.",
  ),
  "v2.other-paths": assumed("Any other path below these returns 404."),
  "v2.method": documented("A method that a path does not have returns 405."),
  "v2.bearer": documented("The key is read from Authorization: Bearer; without a right one, 401."),
  "v2.unauthorized-body": assumed('The detail of a 401 for a wrong key is "invalid bearer token".'),
  "v2.forbidden": documented("A valid key without permission returns 403."),
  "v2.problem": documented("Errors have the form of RFC 9457 with title, status, detail and, for a body, errors."),
  "v2.malformed": assumed("A body that is not JSON returns 400."),
  "v2.validation": documented("A missing, unknown or wrong field of a body returns 422, and names each."),
  "v2.request-id": observed("Every response has x-request-id."),
  "v2.rate-limit": documented(
    "RateLimit and RateLimit-Policy are in every response with a right key; over the limit, 429 with Retry-After.",
  ),
  "v2.rate-windows": assumed("The windows of the rate limit are fixed, from the first request on."),
  "v2.pagination": observed("Lists have pages of 1 to 1000 records with a cursor; a wrong one returns 422."),
  "v2.newest-first": observed("The list of endpoints begins with the newest."),
  "v2.list-lag": assumed("A list, and the read of one record, can lag behind a change."),
  "v2.unknown-id": documented("An unknown id returns 404."),
  "v2.create-status": documented("A create returns 201 with the record."),
  "v2.patch": documented("A change keeps the fields that it leaves out, and returns the whole record."),
  "v2.delete-status": documented("A deletion returns 204 without a body; after that, 404."),
  "v2.gpu": documented("A create without gpu is refused: the emulator has no endpoints with CPUs."),
  "v2.gpu-selection": documented(
    "gpu.pools replaces the selection: without excludedTypes, the exclusions are cleared.",
  ),
  "v2.cuda": documented("allowedCudaVersions and minCudaVersion exclude each other: 400."),
  "v2.image": documented("A create needs image or templateId."),
  "v2.template-once": documented(
    "templateId is applied once: its container is copied, a later change of the template does not reach the endpoint.",
  ),
  "v2.template-unseen": documented("No response shows the template of an endpoint."),
  "v2.template-env": documented("The variables of the body win over those of the template in the same body."),
  "v2.template-in-graphql": assumed(
    "GraphQL shows the template that was applied last, and saveEndpoint links it again.",
  ),
  "v2.bound-template": assumed("An endpoint without a template gets one of its own, which no list of REST v2 shows."),
  "v2.delete-bound": documented("The deletion of an endpoint deletes the template that belongs to it, and no other."),
  "v2.delete-workers": observed("The deletion of an endpoint ends its workers; workersMax need not be 0."),
  "v2.idle-timeout": documented("idleTimeout with REQUEST_COUNT is refused with 422, and no response has it."),
  "v2.data-centers": assumed("A data center outside the catalogue returns 400."),
  "v2.countries": assumed("An endpoint whose locations hold countries shows all their data centers."),
  "v2.one-volume": assumed("The emulator supports one network volume for each endpoint."),
  "v2.queue-only": assumed("The emulator supports no endpoints of the type LOAD_BALANCER."),
  "v2.quota": observed("workersMax over the quota returns 400 with the same message as GraphQL."),
  "v2.workers": documented("GET /v2/serverless/{id}/workers returns the workers that live, with their status."),
  "v2.pod-template": documented("A template of pods returns 422."),
  "v2.unknown-template": documented("An unknown template returns 404."),
  "v2.template-in-use": observed("A template that an endpoint of GraphQL or a pod uses is not deleted: 400."),
  "v2.template-defaults": documented("A new template has serverless false, startSsh true and startJupyter true."),
  "v2.volume-shrink": documented("A smaller size of a volume returns 400."),
  "v2.registry-in-use": documented("A registry credential that a pod uses is not deleted; a template loses it."),
  "v2.registry-fixed": documented("A registry credential cannot be changed: 405."),
  "v2.pod": documented("GET /v2/pods/{id} returns a pod, and 404 for a worker."),
  "v2.pod-fields": documented("A pod has status, cost, disk, mounts and runtime in place of the names of REST v1."),
};

export const fidelity = {
  ...server,
  ...graphql,
  ...save,
  ...template,
  ...volume,
  ...registry,
  ...worker,
  ...workerFaults,
  ...remove,
  ...myself,
  ...rest,
  ...restV2,
  ...queue,
  ...workers,
};

/** The id of a row, `interface.rule`. */
export type FidelityId = keyof typeof fidelity;

/** Returns the evidence for a row. */
export function levelOf(id: FidelityId): Level {
  return fidelity[id].level;
}
