import { assumed, documented, observed } from "./level";

/** Queue: jobs, workers, webhooks, rate limits. */
export const queue = {
  "queue.key": documented("The key is read from the header authorization, with or without Bearer."),
  "queue.wrong-key": documented("A wrong key, and a key without permission, returns 401."),
  "queue.unauthorized-body": observed('The body of a 401 is {"status":401,"title":"Unauthorized","detail":…}.'),
  "queue.error-body": assumed("400, 404 and 429 have bodies of the same form as 401."),
  "queue.unknown-endpoint": documented("An unknown endpoint id returns 404."),
  "queue.unknown-operation": assumed("An unknown path below an endpoint, or a wrong method, returns 404."),
  "queue.unknown-job": documented("An unknown job id returns 404."),
  "queue.bad-request": documented("A malformed request or parameter returns 400."),
  "queue.null-fields": assumed("null in an optional field of a job request counts as absent."),
  "queue.out-of-range": assumed("A wait, ttl or executionTimeout outside its range returns 400."),
  "queue.too-large": assumed("A body over the operation's limit returns 400."),
  "queue.sizes": documented("The body of /run may be up to 10 MB, that of /runsync up to 20 MB."),
  "queue.run": documented("/run returns id and IN_QUEUE immediately; the job is processed later."),
  "queue.runsync": documented("/runsync waits for the job and returns its record."),
  "queue.runsync-wait": documented("wait limits the time that /runsync waits: 1000 to 300000 ms, 90000 by default."),
  "queue.runsync-elapsed": observed("When wait elapses, /runsync returns 200 with the current state of the job."),
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
  "queue.stream-hold": observed(
    "In the observed profile /stream waits up to 10 s, or wait milliseconds, for an item or the end of the job (2026-08).",
  ),
  "queue.retries": assumed("A job that was queued again shows retries. A capture of RunPod (2026) does not show it."),
  "queue.empty-input": assumed(
    'In the observed profile no handler gets a job whose input is {}: its worker drops it, and it fails with "job timed out after 1 retries" (two reports, 2026-07 and 2026-08). The 5 s until then are ours.',
  ),
  "queue.handler-error": observed(
    "In the observed profile a handler that returns an object with error fails its job, as in RunPod's Python library 1.12.",
  ),
  "queue.refresh-worker": observed(
    "In the observed profile refresh_worker in what a handler returns replaces the worker, and is not in the output.",
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
    "In the observed profile /health also counts initializing, ready, throttled and unhealthy workers.",
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
    "With stream: true, strings are sent unchanged, all other pieces as server-sent events; data: [DONE] follows.",
  ),
  "queue.openai-error": assumed(
    "An error of /openai/* is { error: { message, type, param, code } }: 500 for a job that failed, else the code that the worker returned.",
  ),
  "queue.openai-cut": assumed("When the client ends its connection to /openai/*, the job is cancelled."),
  "queue.openai-model": assumed(
    "A worker without a handler is an OpenAI server with one chat model, which repeats the last message.",
  ),
  "queue.execution-timeout": observed(
    'A job that passes its executionTimeout becomes FAILED, "executionTimeout exceeded".',
  ),
  "queue.execution-timeout-limits": documented(
    "executionTimeout is 10 minutes by default; a job may set 5 s to 7 days.",
  ),
  "queue.lost-worker": observed(
    'A job whose worker dies is queued again once, then FAILED with "job timed out after 1 retries".',
  ),
  "queue.timed-out": documented("A job can be TIMED_OUT, and can then be retried."),
  "queue.ttl": documented("A job is deleted when its ttl expires, in any state, even while it runs: 404."),
  "queue.ttl-limits": documented("ttl is 24 hours by default; a job may set 10 s to 7 days."),
  "queue.retention": documented("Results are kept for 30 minutes (/run) or 1 minute (/runsync) after the job ended."),
  "queue.retention-max": assumed(
    "The query parameter ttl of /status keeps the result of /runsync longer, up to 5 minutes.",
  ),
  "queue.forgotten": assumed("A job whose result is no longer kept returns 404 for every operation."),
  "queue.webhook": documented("The URL in webhook is notified when the job completes."),
  "queue.webhook-body": observed("A webhook is a POST of the whole job as JSON, unsigned."),
  "queue.webhook-tries": documented("A failed webhook is retried twice, 10 s apart; only status 200 counts."),
  "queue.webhook-tries-observed": observed("In the observed profile any 2xx counts, and the pauses are 5 s and 15 s."),
  "queue.webhook-failed": observed("A webhook that cannot be delivered (dropWebhook) does not change the job."),
  "queue.webhook-states": assumed("FAILED and TIMED_OUT jobs also cause a notification; CANCELLED ones do not."),
  "queue.webhook-loopback": assumed("Webhooks go to loopback addresses only, unless an option allows others."),
  "queue.rate-limits": documented(
    "Each operation has a limit per 10 s and a limit of concurrent requests; a request over a limit returns 429.",
  ),
  "queue.rate-limits-dynamic": documented(
    "The limit per 10 s is at least the number of running workers times requests_per_worker.",
  ),
  "queue.rate-limits-window": assumed(
    "The window of 10 s slides; rejected requests do not count; requests_per_worker is 50.",
  ),
  "queue.s3-config": documented("s3Config is passed to the worker and never shown."),
};
