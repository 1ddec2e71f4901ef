import { inspect } from "node:util";
import { InvalidInputError } from "../../../sdk/errors/errors";
import { redact } from "../../../sdk/errors/secretText";
import { checkJobRequest, type JobRequest } from "../../../sdk/jobs/jobRequest";
import { serverWaitMs } from "../../../sdk/jobs/submit";

function problemsOf(request: unknown, operation: "run" | "runsync" = "run"): string[] {
  try {
    checkJobRequest(operation, request as JobRequest);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return error.problems.map(({ property }) => property);
  }
}

describe("a job's request", () => {
  test.each([
    [undefined, "the request"],
    [{}, "input"],
    [{ input: null }, "input"],
    [{ input: [1] }, "input"],
    [{ input: "text" }, "input"],
    [{ input: { big: 1n } }, "input"],
    [{ input: {}, webhook: "example.com/hook" }, "webhook"],
    [{ input: {}, webhook: "ftp://example.com" }, "webhook"],
    [{ input: {}, policy: { ttl: 9_999 } }, "policy.ttl"],
    [{ input: {}, policy: { ttl: 604_800_001 } }, "policy.ttl"],
    [{ input: {}, policy: { executionTimeout: 4_999 } }, "policy.executionTimeout"],
    [{ input: {}, policy: { executionTimeout: 604_800_001 } }, "policy.executionTimeout"],
    [{ input: {}, policy: { executionTimeout: 6_000.5 } }, "policy.executionTimeout"],
    [{ input: {}, policy: { executionTimeout: Number.NaN } }, "policy.executionTimeout"],
    [{ input: {}, policy: { lowPriority: "yes" } }, "policy.lowPriority"],
    [{ input: {}, policy: [] }, "policy"],
    [{ input: {}, s3Config: "s3" }, "s3Config"],
    [{ input: {}, s3Config: { bucketName: 1 } }, "s3Config.bucketName"],
  ])("%p is refused because of its %s [contract.request-fields]", (request, property) =>
    expect(problemsOf(request)).toEqual([property]));

  test("a job's request causes an error that lists every problem", () => {
    const request = { input: 1, webhook: "no", policy: { ttl: 1, executionTimeout: 1 }, s3Config: { accessId: 1 } };
    expect(problemsOf(request)).toEqual([
      "input",
      "webhook",
      "policy.executionTimeout",
      "policy.ttl",
      "s3Config.accessId",
    ]);
  });

  test("a job's request is accepted at both ends of each range [contract.request-policy]", () => {
    expect(problemsOf({ input: {}, policy: { ttl: 10_000, executionTimeout: 5_000 } })).toEqual([]);
    expect(problemsOf({ input: {}, policy: { ttl: 604_800_000, executionTimeout: 604_800_000 } })).toEqual([]);
    expect(problemsOf({ input: {}, webhook: "http://localhost:1/hook?a=b" })).toEqual([]);
  });

  test("a job's request is sent unchanged, including unknown fields [contract.request-ttl-default]", () => {
    const request = {
      input: { prompt: "Grüße\n\"'</script>" },
      newField: { a: null },
      policy: { ttl: 20_000, newer: 1 },
    };
    const { body, ttlMs } = checkJobRequest("run", request as JobRequest);
    expect(JSON.parse(body)).toEqual(request);
    expect(ttlMs).toBe(20_000);
    expect(checkJobRequest("run", { input: {} }).ttlMs).toBe(86_400_000);
  });

  test("a job's request is limited by the bytes sent: 10 MB for run, 20 MB for runsync [contract.payload]", () => {
    const bytesAround = Buffer.byteLength(JSON.stringify({ input: { text: "" } }));
    const ofBytes = (bytes: number) => ({ input: { text: "é".repeat((bytes - bytesAround) / 2) } });
    expect(problemsOf(ofBytes(10_000_000), "run")).toEqual([]);
    expect(problemsOf(ofBytes(10_000_002), "run")).toEqual(["input"]);
    expect(problemsOf(ofBytes(20_000_000), "runsync")).toEqual([]);
    expect(problemsOf(ofBytes(20_000_002), "runsync")).toEqual(["input"]);
  });

  test("a job's request causes a warning when the job's ttl is shorter than its execution timeout [contract.ttl-and-timeout]", () => {
    const warningsOf = (policy: object) => checkJobRequest("run", { input: { n: 1 }, policy }).warnings;
    expect(warningsOf({ ttl: 10_000, executionTimeout: 20_000 })).toHaveLength(1);
    expect(warningsOf({ executionTimeout: 90_000_000 })).toHaveLength(1);
    expect(warningsOf({ ttl: 20_000, executionTimeout: 20_000 })).toEqual([]);
    expect(warningsOf({ ttl: 10_000 })).toEqual([]);
    expect(warningsOf({})).toEqual([]);
  });

  test("a job's request causes a warning when its input is empty", () => {
    expect(checkJobRequest("runsync", { input: {} }).warnings).toEqual([expect.stringContaining("input is empty")]);
    expect(checkJobRequest("run", { input: { prompt: null } }).warnings).toEqual([]);
  });

  test("a job's request may contain a storage secret, which is sent but never shown [contract.request-s3-config]", () => {
    const s3Config = {
      accessId: "id",
      accessSecret: "canary/storage+secret",
      bucketName: "b",
      endpointUrl: "https://s3",
    };
    expect(checkJobRequest("run", { input: {}, s3Config }).body).toContain("canary/storage+secret");
    expect(redact(`the worker said: bad credentials canary/storage+secret`)).not.toContain("canary");
    expect(redact(encodeURIComponent("canary/storage+secret"))).not.toContain("storage");
    try {
      checkJobRequest("run", { input: {}, s3Config: { ...s3Config, bucketName: 1 as unknown as string } });
    } catch (error) {
      expect(inspect(error, { showHidden: true })).not.toContain("canary");
    }
  });
});

describe("times of a request", () => {
  test.each([
    [90_000, Number.POSITIVE_INFINITY, 90_000],
    [300_000, 60_000, 54_000],
    [300_000, 400_000, 300_000],
    [300_000, 5_000, 4_000],
    [300_000, 2_000, 1_000],
    [300_000, 500, 1_000],
  ])("with %d ms to wait and %d ms left, the request gives the service %d ms", (waitMs, timeLeftMs, expected) => {
    expect(serverWaitMs(waitMs, timeLeftMs)).toBe(expected);
  });
});
