import { assumed, documented, observed } from "./level";

/** GraphQL: `saveEndpoint`. */
export const save = {
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
    'In the observed profile, the name of an endpoint with FLASHBOOT is shown with the suffix " -fb" (a capture of 2026-04; Flash calls it historical).',
  ),
  "save.flash-boot-shown": assumed("The observed profile shows flashBootType OFF where none is set."),
  "save.null-default": assumed("null for a field that has a default is rejected as a validation error."),
  "save.scaler-type-null": assumed("scalerType null keeps its value."),
  "save.round-trip": documented("name is any string and is returned unchanged."),
  "save.unknown-id": assumed('An unknown id is rejected with a message that contains "not found".'),
  "save.gpu-ids": documented(
    "gpuIds accepts AMPERE_16, AMPERE_24, ADA_24, AMPERE_48, ADA_48_PRO, AMPERE_80, ADA_80_PRO.",
  ),
  "save.gpu-list": observed(
    "gpuIds accepts a comma-separated list of GPU pools, and of GPU types to exclude with a leading minus.",
  ),
  "save.newer-tiers": observed(
    "gpuIds also accepts ADA_32_PRO, HOPPER_141, BLACKWELL_96 and BLACKWELL_180, which are newer than the contract.",
  ),
  "save.unknown-tier": observed(
    "An unknown GPU pool, or none, is rejected, with the messages of runpodctl's captures (2026-06 to 2026-09).",
  ),
  "save.exclusions": observed("GraphQL ignores an exclusion that is in none of the pools (2026-09)."),
  "save.locations": documented("locations accepts CZ, FR, GB, NO, RO and US, as a comma-separated list."),
  "save.any-region": documented('locations "" or null means any region.'),
  "save.data-center": observed("locations accepts data centers such as EU-RO-1."),
  "save.unknown-location": assumed("An unknown location is rejected."),
  "save.scaler-type": documented("scalerType accepts QUEUE_DELAY and REQUEST_COUNT."),
  "save.unknown-scaler-type": assumed("An unknown scalerType is rejected."),
  "save.ranges": assumed(
    "An empty name or templateId, a negative number and workersMax below workersMin are rejected.",
  ),
  "save.scaler-text": observed('A scalerValue of 0 is rejected with "Scaler value cannot be less than 1." (2026-09).'),
  "save.any-template": assumed("Any non-empty templateId is accepted unless a list of templates is set."),
  "save.unknown-template": observed(
    'If an option or a seed names templates, any other templateId is rejected with "Unable to find template".',
  ),
  "save.deleted-template": assumed("The id of a deleted template is always rejected."),
  "save.pod-template": assumed("A template that is not a serverless template is rejected."),
  "save.any-volume": assumed("Any networkVolumeId is accepted unless an option or a seed names volumes."),
  "save.unknown-volume": assumed(
    "If an option or a seed names volumes, any other networkVolumeId is rejected. The id of a deleted volume is always rejected.",
  ),
  "save.left-out-ids": assumed(
    "A change that leaves out the ids of a template and volumes does not check them: they may have been deleted.",
  ),
  "save.no-quota": assumed("Without a quota option, there is no worker quota."),
  "save.quota": observed(
    "The sum of workersMax over all endpoints must stay within the quota. The message begins and ends as in a capture of 2026-09-29.",
  ),
  "save.whole-scaler-value": observed("scalerValue is a whole number (Int) in the observed profile."),
  "save.observed-fields": assumed(
    "The observed profile stores and shows the other fields of the service's clients; workersPFBTarget, env, modelReferences, compliance and repo have no effect.",
  ),
  "save.observed-defaults": observed(
    "A change that omits them sets gpuCount to 1, workersPFBTarget to 0 and instanceIds to null (observed profile).",
  ),
  "save.observed-kept": observed(
    "A change that omits them keeps minCudaVersion, allowedCudaVersions, modelReferences and compliance (observed profile).",
  ),
  "save.observed-reset": assumed(
    "A change that omits them resets executionTimeoutMs, networkVolumeIds, workersStandby, flashEnvironmentId, repo and hubReleaseId (observed profile).",
  ),
  "save.observed-nulls": assumed(
    "An explicit null is a value: it clears minCudaVersion, allowedCudaVersions, compliance and modelReferences (observed profile).",
  ),
  "save.cuda": assumed("A CUDA version that is not of the form 12.8 is rejected."),
  "save.execution-timeout": observed(
    "executionTimeoutMs is the limit of each job without one of its own; 0 means no limit.",
  ),
  "save.compute-type": observed("computeType is shown, CPU or GPU, and is a validation error in an input."),
  "save.compute-fixed": assumed(
    "GPUs of an endpoint on CPUs are rejected, and so are instanceIds of one on GPUs; the message is assumed.",
  ),
  "save.cpu": observed(
    'An endpoint with instanceIds has gpuIds "", and instanceIds together with gpuCount or CUDA versions are rejected (observed profile); the message is assumed.',
  ),
  "save.cpu-instances": assumed("instanceIds outside the catalog (cpu3c, cpu3g, cpu5c, cpu5g) are rejected."),
  "save.cpu-lost": observed(
    "If a save omits the instanceIds of an endpoint on CPUs, the endpoint loses them and starts no workers.",
  ),
  "save.type": observed("type is QB (queue), the default, or LB (load balancer); others are rejected (assumed)."),
  "save.type-kept": assumed("A change without type, or with null, keeps the type."),
  "save.type-fixed": assumed("A change of type is rejected."),
  "save.volumes": observed("networkVolumeIds shows the data center of each volume; an input that has one is rejected."),
  "save.volume-places": assumed("Two volumes in one data center are rejected."),
  "save.models": assumed("More than one model reference, or any on CPUs, is rejected."),
  "save.env": observed("env together with templateId is ignored: a change keeps it."),
  "save.data-center-ids": assumed("dataCenterIds is a newer form of locations."),
  "save.no-effect": assumed("requestTTL and cloudStorageConfig are accepted, and never shown."),
  "save.sources": assumed(
    "An endpoint shows its repo, its hubRelease and its flashEnvironmentId, null where it has none (observed profile).",
  ),
  "save.standby": assumed(
    "A save that leaves out workersStandby sets 1, and the endpoint keeps a worker although workersMin is 0 (observed profile; three reports, 2026-08 and 2026-09).",
  ),
  "save.own-template": observed(
    "A create with template in place of templateId also creates the template, with the endpoint's id as boundEndpointId (observed profile).",
  ),
  "save.own-template-listed": assumed("myself.podTemplates lists such a template like any other; REST v2 does not."),
  "save.template-or-id": observed("template and templateId together are rejected; the message is assumed."),
  "save.template-once": assumed("template in a change is rejected: only saveTemplate changes it."),
  "save.template-lost": assumed("If the endpoint is rejected, its template is not created either."),
  "save.template-dies": observed("The deletion of an endpoint deletes the template that was created with it."),
  "save.template-unbound": assumed("With bindEndpoint false, the template belongs to no endpoint and is kept."),
  "save.template-survives": assumed("With an option, such a template is always kept."),
  "save.template-shown": observed("An endpoint shows its template (observed profile)."),
  "save.priority-flashboot": assumed(
    "PRIORITY_FLASHBOOT is stored and shown; cold starts take as long as with FLASHBOOT (observed profile).",
  ),
  "save.endpoint-template": observed("updateEndpointTemplate changes the template of an endpoint (observed profile)."),
  "save.workers": documented("An endpoint keeps workersMin workers, which pods lists."),
};

/** GraphQL: `deleteEndpoint`. */
export const remove = {
  "delete.done": documented("deleteEndpoint returns data.deleteEndpoint null, and the endpoint is deleted."),
  "delete.workers-not-zero": documented(
    "workersMin and workersMax must both be 0; the message is assumed. Flash 1.21 and pulumi-runpod delete without that (2026), so RunPod may accept it.",
  ),
  "delete.draining": observed("A deletion is rejected while workers are still stopping; the message is assumed."),
  "delete.unknown-id": assumed('An unknown id is rejected with a message that contains "not found".'),
  "delete.same-data": observed("A rejected deletion returns the same data as a successful one; only errors differs."),
};
