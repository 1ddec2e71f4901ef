import { type Emulator, type Handlers, type ManualClock, manualClock, startEmulator } from "../../../emulator";
import { callControl } from "../../support/plainClient";

describe("jobs and workers over HTTP", () => {
  const JOBS = { name: "seeded", gpuIds: "ADA_24", templateId: "t", workersMax: 1 };
  let emulator: Emulator;
  let clock: ManualClock;
  let id: string;

  beforeEach(async () => {
    clock = manualClock(1_000_000);
    const handlers: Handlers = {
      default: (_, { sleep }) => sleep(60_000).then(() => "done"),
      fails: () => Promise.reject(new Error("no")),
    };
    emulator = await startEmulator({ profile: "contract", clock, coldStartMs: 1000, handlers });
    id = emulator.endpoints.create(JOBS).id;
  });
  afterEach(() => emulator.stop());

  const control = (method: string, path: string, body?: unknown) => callControl(emulator, method, path, body);
  const submit = async (input: object = { n: 1 }, endpointId = id) =>
    (await control("POST", "jobs", { endpointId, input })).body.id as string;

  test("jobs and workers over HTTP lists the newest jobs first, by endpoint and status, up to a limit", async () => {
    const other = emulator.endpoints.create({ ...JOBS, name: "fails" }).id;
    const [first, second] = [await submit(), await submit()];
    const failed = await submit({}, other);
    await clock.advance(1500);
    const list = async (query = "") => (await control("GET", `jobs${query}`)).body.map((job: { id: string }) => job.id);
    expect(await list()).toEqual([failed, second, first]);
    expect(await list(`?endpointId=${id}`)).toEqual([second, first]);
    expect(await list(`?endpointId=${id}&limit=1`)).toEqual([second]);
    expect(await list("?status=IN_PROGRESS")).toEqual([first]);
    expect(await list("?status=FAILED&limit=10000")).toEqual([failed]);
    expect(await list("?endpointId=none")).toEqual([]);
    const { body } = await control("GET", `jobs?endpointId=${other}`);
    const times = { submittedAt: 1_000_000, queuedAt: 1_000_000, startedAt: 1_001_000, endedAt: 1_001_000 };
    expect(body).toEqual([
      {
        id: failed,
        endpointId: other,
        operation: "run",
        status: "FAILED",
        ...times,
        attempts: 1,
        lowPriority: false,
        error: "no",
        workerId: expect.any(String),
      },
    ]);
  });

  test("jobs and workers over HTTP refuses a job for a load-balancing endpoint, which has no queue", async () => {
    const lb = { ...JOBS, type: "LB", scalerType: "REQUEST_COUNT" } as const;
    emulator = await emulator
      .stop()
      .then(() => startEmulator({ profile: "observed", seed: { endpoints: [{ id: "lb", ...lb }] } }));
    const { status, body } = await control("POST", "jobs", { endpointId: "lb", input: { n: 1 } });
    expect(status).toBe(400);
    expect(body.error).toMatch(
      /Endpoint lb is a load-balancing endpoint, which has no queue: send requests to \/lb\/lb\//,
    );
    expect((await control("GET", "jobs")).body).toEqual([]);
  });

  test("jobs and workers over HTTP shows a job with its input and output, and no storage credentials", async () => {
    const request = { endpointId: id, input: { a: 1 }, s3Config: { accessSecret: "hush" } };
    const job = (await control("POST", "jobs", request)).body;
    await clock.advance(70_000);
    const { body, text } = await control("GET", `jobs/${job.id}`);
    expect(body).toMatchObject({ id: job.id, status: "COMPLETED", input: { a: 1 }, output: "done" });
    expect(text).not.toContain("hush");
    expect((await control("GET", "jobs/none")).status).toBe(404);
  });

  test("cancels and retries jobs only in the states in which the service allows it", async () => {
    const job = await submit();
    expect((await control("POST", `jobs/${job}/cancel`)).body).toMatchObject({ status: "CANCELLED" });
    const again = await control("POST", `jobs/${job}/cancel`);
    expect([again.status, again.body.error]).toEqual([400, expect.stringContaining("CANCELLED")]);
    expect((await control("POST", `jobs/${job}/retry`)).body.error).toContain("only FAILED and TIMED_OUT");
    const other = emulator.endpoints.create({ ...JOBS, name: "fails" }).id;
    const failed = await submit({}, other);
    await clock.advance(1500);
    expect((await control("POST", `jobs/${failed}/retry`)).body).toMatchObject({ id: failed, status: "IN_QUEUE" });
    for (const action of ["cancel", "retry"]) expect((await control("POST", `jobs/none/${action}`)).status).toBe(404);
  });

  test("jobs and workers over HTTP lists workers and kills one, so that its job is queued again, and fails if that happens a second time", async () => {
    const job = await submit();
    const [starting] = (await control("GET", "workers")).body;
    expect(starting).toEqual({
      endpointId: id,
      id: expect.any(String),
      state: "starting",
      phase: "initializing",
      slsVersion: 0,
      startedAt: 1_000_000,
      since: 1_000_000,
    });
    await clock.advance(1500);
    const [running] = (await control("GET", `workers?endpointId=${id}&state=running`)).body;
    expect(running).toMatchObject({ id: starting.id, jobId: job, since: 1_001_000 });
    expect((await control("GET", "workers?state=idle")).body).toEqual([]);
    expect((await control("DELETE", `workers/${running.id}`)).status).toBe(204);
    expect((await control("DELETE", `workers/${running.id}`)).status).toBe(404);
    expect((await control("GET", `jobs/${job}`)).body).toMatchObject({ status: "IN_QUEUE", attempts: 1 });
    await clock.advance(1500);
    const [second] = (await control("GET", "workers")).body;
    expect((await control("DELETE", `workers/${second.id}`)).status).toBe(204);
    const { body } = await control("GET", `jobs/${job}`);
    expect(body).toMatchObject({ status: "FAILED", error: "job timed out after 1 retries" });
  });

  test("jobs and workers over HTTP kills a worker that has no job, and starts another worker if one is needed", async () => {
    emulator.endpoints.change(id, { workersMin: 1 });
    await clock.advance(1500);
    const [idle] = (await control("GET", "workers?state=idle")).body;
    expect((await control("DELETE", `workers/${idle.id}`)).status).toBe(204);
    const left = (await control("GET", "workers")).body;
    expect(left).toMatchObject([{ state: "starting" }]);
    expect(left[0].id).not.toBe(idle.id);
  });

  test.each([
    ["jobs?endpoint=x", '"endpoint"'],
    ["jobs?status=DONE", "IN_QUEUE, IN_PROGRESS"],
    ["jobs?limit=0", "from 1 to 10000"],
    ["jobs?limit=10001", "from 1 to 10000"],
    ["jobs?limit=1e3", "whole number"],
    ["jobs?endpointId=", "empty"],
    ["jobs?limit=1&limit=2", "more than once"],
    ["workers?status=idle&color=red", '"status", "color"'],
    ["workers?state=initializing", "starting, idle, running, draining"],
    ["journal?endpoint=x", '"endpoint"'],
    ["journal?outcome=bad", "pending, ok, error, cut"],
    ["journal?interface=soap", "graphql, rest, v2, queue"],
    ["journal?status=abc", '"status" is "abc"'],
    ["endpoints?name=x", '"name"'],
    ["pods?endpointId=x&color=red", '"endpointId", "color"'],
    ["faults?id=1", '"id". Known parameters: none.'],
    ["jobs/none?status=FAILED", '"status"'],
    ["events?color=red", '"color"'],
    ["events?jobStatus=DONE", "IN_QUEUE"],
  ])("jobs and workers over HTTP refuses the query parameters of %s", async (path, named) => {
    const { status, body } = await control("GET", path);
    expect([status, body.error]).toEqual([400, expect.stringContaining(named)]);
  });

  test("jobs and workers over HTTP changes nothing if a delete request contains a query parameter", async () => {
    emulator.faults.add({ effect: { status: 503 } });
    expect((await control("DELETE", "faults?id=7")).status).toBe(400);
    expect(emulator.faults.list()).toHaveLength(1);
  });

  test.each([
    [{ input: { n: 1 } }, "endpointId"],
    [{ endpointId: "none", input: { n: 1 } }, "none"],
    [{ endpointId: 7, input: { n: 1 } }, "endpointId"],
    [null, "endpointId"],
  ])("jobs and workers over HTTP refuses to send %j", async (body, named) => {
    const answer = await control("POST", "jobs", body);
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(named)]);
  });

  test("jobs and workers over HTTP refuses to send a job that the queue would refuse", async () => {
    expect((await control("POST", "jobs", { endpointId: id })).body.error).toContain("input is required");
  });
});
