import { assumed, documented, observed } from "./level";

/** Workers: scaling, starts and stops. */
export const workers = {
  "workers.minimum": documented("Even without jobs, workersMin workers run."),
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
  "workers.idle-scale-down": observed(
    "workersMax of an endpoint without jobs drops to 2 after 3 days, and to 0 after 7.",
  ),
  "workers.idle-scale-down-minimum": assumed("workersMin drops with it."),
  "workers.no-machine": observed(
    "No worker starts, and nothing fails, while no machine fits: GPU pools with their CUDA version, gpuCount, data centers, volumes.",
  ),
  "workers.machines": assumed(
    "Every data center has machines of each GPU pool with up to 8 GPUs and CUDA 11.8 to 12.8; ADA_32_PRO, BLACKWELL_96 and BLACKWELL_180 have 12.8 to 13.0.",
  ),
  "workers.cuda": documented("allowedCudaVersions is an exact set, minCudaVersion a floor, compared by number."),
  "workers.volumes": observed(
    "A worker starts in the data center of a volume of its endpoint, and finds their ids in RUNPOD_VOLUME_ID and RUNPOD_DC_ID.",
  ),
  "workers.places": assumed("Workers take the data centers of their endpoint in turn."),
  "workers.cpu": observed("A worker of an endpoint on CPUs has no GPU."),
  "workers.cpu-places": assumed("Workers on CPUs start in EU-RO-1 only."),
  "workers.other-machine": assumed(
    "A change of GPUs, CUDA versions, CPU instances, data centers or volumes replaces the workers, as a change of template does.",
  ),
  "workers.version": documented("A worker's pod shows the version of its endpoint as slsVersion."),
  "workers.container": observed(
    "A worker runs with the image, the command and the variables that its template had when the worker started.",
  ),
  "workers.pod-container": assumed("A worker's pod shows these, and the variables that the service adds."),
  "workers.rollout": observed(
    "A change of a template's image, command, disk, variables, ports or credential creates a new version of its endpoints: idle workers are replaced at once, others after their job.",
  ),
  "workers.release-fields": observed(
    "A change of the container, GPUs, CUDA versions, CPU instances, data centers, volumes or FLASHBOOT makes a version; worker counts, scaling and timeouts act at once.",
  ),
  "workers.log": assumed(
    "A worker's log has the lines of its program, those of a handler's log(), and the service's lines about its container.",
  ),
  "workers.rollout-none": observed("A save that changes none of these does not create a new version."),
  "workers.rollout-template": observed("Another templateId of the endpoint replaces the workers in the same way."),
  "workers.stale-flashboot": observed(
    "With an option, workers with FLASHBOOT keep the old version of a changed template until workersMax is 0.",
  ),
};

/** The worker protocol, which a worker program uses to fetch its jobs. */
export const worker = {
  "worker.environment": observed(
    "A worker finds the URLs of its requests in RUNPOD_WEBHOOK_GET_JOB, _POST_OUTPUT, _POST_STREAM and _PING, and its id in RUNPOD_POD_ID.",
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
  "worker.done-late": assumed("A result for a job that has ended returns 200 and has no effect."),
  "worker.result-limit": assumed("A result or streamed item above 20 MB fails the job and returns 413."),
  "worker.result-depth": assumed("A result or item that is nested more than 1,000 levels deep fails the job: 400."),
  "worker.progress": observed("POST job-done with the status IN_PROGRESS is a progress update."),
  "worker.stream": observed("POST job-stream adds an item to the stream of the job."),
  "worker.stop-job": observed("GET job-stop returns the ids of cancelled jobs as jobsToStop, or 204."),
  "worker.stop-job-again": assumed("An id in jobsToStop is returned once more a second later."),
  "worker.ping": observed("GET ping is accepted. It does not prove that a worker is alive."),
  "worker.refresh": observed("A worker whose result has stopPod true is replaced."),
  "worker.execution-timeout": assumed("A worker whose job passes its executionTimeout is stopped and replaced."),
  "worker.lost": observed("A job whose worker's process ends is queued again once, then fails."),
  "worker.stop": assumed(
    "A worker that scales down gets SIGTERM, and SIGKILL 10 s later; its whole process group ends.",
  ),
  "worker.failed-start": assumed(
    "A program that ends before it has asked for a job is started again after a pause of 0.5 to 30 s, or of 0.5 s if it asked but returned no result.",
  ),
  "worker.init-timeout": assumed(
    "A worker that asks for no job within RUNPOD_INIT_TIMEOUT seconds, 420 by default, is ended and started again.",
  ),
  "worker.orphan": assumed("No process of a worker survives the emulator, even if the emulator is killed."),
};

/** Fault rules for workers. */
export const workerFaults = {
  "worker-fault.kill": assumed("killWorker ends a worker when it starts a job, as a lost machine does."),
  "worker-fault.hang": assumed(
    "hangWorker suspends a worker when it starts a job, until the executionTimeout expires.",
  ),
  "worker-fault.throttle": assumed(
    "throttleWorkerMs holds a worker back before its cold start; it counts as throttled.",
  ),
  "worker-fault.image-pull": assumed("imagePullMs makes a cold start longer."),
  "worker-fault.image-pull-error": assumed(
    "imagePullError keeps a worker initializing; every 10 s its log shows that the image cannot be pulled.",
  ),
  "worker-fault.crash-loop": assumed(
    "crashLoop keeps a worker initializing; every 10 s its log shows another start of the container.",
  ),
  "worker-fault.unhealthy": observed("A worker that has not started after 7 minutes is unhealthy."),
  "worker-fault.no-jobs": assumed("takesNoJobs lets a worker become idle, and gives it no jobs."),
  "worker-fault.removed": assumed("Workers recover when the rule that holds them back is removed."),
  "worker-fault.quota": assumed(
    "Lowering a quota below what is in use blocks later increases of workersMax, but stops no worker.",
  ),
};
