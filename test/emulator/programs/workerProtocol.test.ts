import { send } from "../../support/plainClient";
import { PROTOCOL_WORKER, startRealWorkers, stopRealWorkers, until } from "../../support/realWorkers";

afterEach(stopRealWorkers);

describe("a worker's program", () => {
  test("[worker.take] [worker.done] [worker.progress] [worker.stream] a worker's program takes and finishes jobs one after the other", async () => {
    const { runSync, run, job, get } = await startRealWorkers();
    const first = await runSync({ echo: "grün" });
    expect(first).toMatchObject({ status: "COMPLETED", output: { echo: "grün", pid: expect.any(Number) } });
    expect(await runSync({ error: "CUDA out of memory" })).toMatchObject({
      status: "FAILED",
      error: "CUDA out of memory",
    });
    const id = await run({ progress: "10%", items: [1, { n: 2 }], sleep: 300 });
    await until(async () => (await job(id)).output === "10%");
    expect((await job(id)).status).toBe("IN_PROGRESS");
    await until(async () => (await job(id)).status === "COMPLETED");
    expect((await get(`stream/${id}`)).map((item: { output: unknown }) => item.output)).toEqual([1, { n: 2 }]);
    expect((await job(id)).output).toEqual({ pid: first.output.pid });
  });

  test("[worker.take-batch] [worker.concurrency] a worker's program gets as many jobs at once as it requests or as its concurrency allows", async () => {
    const program = { ...PROTOCOL_WORKER, env: { WORKER_SIZE: "4" } };
    for (const [concurrency, atOnce] of [
      [undefined, 4],
      [3, 3],
    ] as const) {
      const { run, get, emulator } = await startRealWorkers({ ...program, concurrency });
      for (let count = 0; count < 6; count += 1) await run({ sleep: 1000 });
      await until(async () => (await get("health")).jobs.inProgress >= atOnce);
      const { jobs, workers } = await get("health");
      expect(jobs).toMatchObject({ inProgress: atOnce, inQueue: 6 - atOnce });
      expect(workers.running).toBe(1);
      await emulator.stop();
    }
  });

  test("[worker.environment] [worker.minimal-environment] a worker's program runs in a minimal environment that contains none of the emulator's secrets", async () => {
    process.env.WORKER_TEST_SECRET = "canary";
    try {
      const program = { ...PROTOCOL_WORKER, env: { MODEL: "llama" } };
      const { runSync, endpointId, emulator } = await startRealWorkers(program);
      const { output: env, id } = await runSync({ env: true });
      expect(Object.keys(env).filter((name) => !/^(RUNPOD_|LANG|LC_|TZ|TMPDIR|PWD|OLDPWD|SHLVL|_)/.test(name))).toEqual(
        ["HOME", "MODEL", "PATH"].sort((a, b) => Object.keys(env).indexOf(a) - Object.keys(env).indexOf(b)),
      );
      const base = `${emulator.url}/v2/${endpointId}`;
      const worker = env.RUNPOD_POD_ID;
      expect(env).toMatchObject({
        RUNPOD_WEBHOOK_GET_JOB: `${base}/job-take/${worker}?gpu=emulated`,
        RUNPOD_WEBHOOK_POST_OUTPUT: `${base}/job-done/${worker}/$ID?gpu=emulated`,
        RUNPOD_WEBHOOK_POST_STREAM: `${base}/job-stream/${worker}/$ID?gpu=emulated`,
        RUNPOD_WEBHOOK_PING: `${base}/ping/${worker}`,
        RUNPOD_ENDPOINT_ID: endpointId,
        MODEL: "llama",
      });
      expect(env.HOME).not.toBe(process.env.HOME);
      expect(JSON.stringify(env)).not.toContain(emulator.apiKey);
      expect(JSON.stringify(env)).not.toContain("canary");
      expect(id).toBeDefined();
    } finally {
      delete process.env.WORKER_TEST_SECRET;
    }
  });

  test("a worker's program writes its output to the journal under its worker, and its starts and exits are recorded there as well", async () => {
    const { runSync, emulator, endpointId, output } = await startRealWorkers();
    await runSync({ print: `hello ${emulator.apiKey}` });
    await until(() => output("stdout").length > 0);
    const [line] = emulator.journal.workerOutput({ stream: "stdout" });
    const [pod] = emulator.endpoints.get(endpointId)?.pods ?? [];
    expect(line).toEqual({
      endpointId,
      workerId: pod?.id,
      stream: "stdout",
      line: "hello [redacted]",
      at: expect.any(Number),
    });
    const url = `${emulator.url}/_emulator/worker-output?workerId=${pod?.id}&stream=emulator`;
    expect((await send(url)).body).toMatchObject([{ line: expect.stringMatching(/protocolWorker\.js: started$/) }]);
    expect(emulator.journal.requests().map(({ operation }) => operation)).toEqual(["runsync"]);
  });
});

describe("worker requests", () => {
  /** A worker that does nothing, so that the test can speak for it. */
  async function silentWorker() {
    const command = 'echo "$RUNPOD_AI_API_KEY $RUNPOD_POD_ID"; exec sleep 60';
    const queue = await startRealWorkers({ command }, { workersMin: 1 });
    await until(() => queue.output("stdout").length > 0);
    const [key = "", worker = ""] = queue.output("stdout")[0]?.split(" ") ?? [];
    const call = (path: string, body?: unknown, authorization = key) =>
      send(`${queue.emulator.url}/v2/${queue.endpointId}/${path.replace("W", worker)}`, {
        headers: { authorization },
        ...(body !== undefined && { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
    return { ...queue, call, worker };
  }

  test("[worker.cold-start] [worker.take-wait] wait for a job, and the first request ends the cold start", async () => {
    const { call, get, run } = await silentWorker();
    expect((await get("health")).workers).toMatchObject({ idle: 0 });
    const taken = call("job-take/W?gpu=x&job_in_progress=0");
    await until(async () => (await get("health")).workers.idle === 1);
    const id = await run({ n: 1 }, { webhook: "http://127.0.0.1:9/hook" });
    expect(await taken).toMatchObject({
      status: 200,
      body: { id, input: { n: 1 }, webhook: "http://127.0.0.1:9/hook", policy: { ttl: 86_400_000 } },
    });
  });

  test("[worker.stop-job] [worker.done-late] name the jobs to stop, and a late result has no effect", async () => {
    const { call, post, job, run } = await silentWorker();
    const id = await run({});
    expect((await call("job-take/W?")).body.id).toBe(id);
    const stop = call("job-stop/W?");
    expect(await post(`cancel/${id}`)).toEqual({ id, status: "CANCELLED" });
    expect(await stop).toMatchObject({ status: 200, body: { jobsToStop: [id] } });
    for (const body of [{ output: 1 }, { status: "IN_PROGRESS", output: 1 }, { error: "e" }]) {
      expect((await call(`job-done/W/${id}?isStream=false`, body)).status).toBe(200);
    }
    expect((await call(`job-stream/W/${id}?isStream=false`, { output: 1 })).status).toBe(200);
    expect(await job(id)).toMatchObject({ status: "CANCELLED" });
    expect((await job(id)).output).toBeUndefined();
  });

  test("[worker.result-limit] worker requests fail the job with the reason if its result or streamed item is too large", async () => {
    const { call, job, run } = await silentWorker();
    for (const [operation, what] of [
      ["job-done", "result"],
      ["job-stream", "streamed item"],
    ]) {
      const id = await run({});
      expect((await call("job-take/W?")).body.id).toBe(id);
      const output = "x".repeat(21_000_000);
      expect((await call(`${operation}/W/${id}?isStream=false`, { output })).status).toBe(413);
      const error = `the ${what} is larger than 20 MB: store it elsewhere and return its URL`;
      expect(await job(id)).toMatchObject({ status: "FAILED", error });
    }
  });

  test("[worker.result-depth] worker requests fail the job if its result or streamed item exceeds 1,000 levels", async () => {
    const { call, job, run } = await silentWorker();
    for (const [operation, what] of [
      ["job-done", "result"],
      ["job-stream", "streamed item"],
    ]) {
      const id = await run({});
      expect((await call("job-take/W?")).body.id).toBe(id);
      const output = `${"[".repeat(1_001)}${"]".repeat(1_001)}`;
      expect((await call(`${operation}/W/${id}?isStream=false`, `{"output":${output}}`)).status).toBe(400);
      expect(await job(id)).toMatchObject({
        status: "FAILED",
        error: `the ${what} is nested more than 1,000 levels deep`,
      });
    }
  });

  test("[worker.ping] accept pings, and refuse results that are not JSON objects", async () => {
    const { call } = await silentWorker();
    expect((await call("ping/W?job_id=a%2Cb&runpod_version=1")).status).toBe(200);
    for (const body of ["not JSON", "[]", "null"]) expect((await call("job-done/W/x?", body)).status).toBe(400);
  });

  test("[worker.key] worker requests are refused after a pause if they use another key, even the account's key", async () => {
    const { call, emulator, worker } = await silentWorker();
    const before = performance.now();
    const keys = [emulator.apiKey, "", `${worker}x`];
    const refused = await Promise.all(keys.map((key) => call("job-take/W?", undefined, key)));
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 401]);
    expect(performance.now() - before).toBeGreaterThan(900);
  });

  test("worker requests return all waiting jobs in one batch, and no job twice", async () => {
    const { call, run } = await silentWorker();
    const ids = [await run({}), await run({}), await run({})];
    const first = await call("job-take-batch/W?batch_size=2&job_in_progress=0");
    const second = await call("job-take-batch/W?batch_size=2&job_in_progress=1");
    const taken = [first, second].map(({ body }) => body.map(({ id }: { id: string }) => id));
    expect(taken).toEqual([ids.slice(0, 2), ids.slice(2)]);
  });

  test("receive no job if their connection was dropped", async () => {
    const { emulator, endpointId, call, run, job, worker, output } = await silentWorker();
    const key = output("stdout")[0]?.split(" ")[0] ?? "";
    const gone = new AbortController();
    const url = `${emulator.url}/v2/${endpointId}/job-take/${worker}?`;
    const cut = fetch(url, { headers: { authorization: key }, signal: gone.signal }).catch(() => {});
    await until(async () => (await job("x")).status === 404);
    gone.abort();
    await cut;
    const id = await run({});
    expect((await call("job-take/W?")).body.id).toBe(id);
  });
});
