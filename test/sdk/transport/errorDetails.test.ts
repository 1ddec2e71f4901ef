import { inspect } from "node:util";
import type { ServerlessGpuError } from "../../../sdk";
import { CANARY, startEmulated, withoutCanary } from "../../support/emulated";
import { clientOf, startRawServer } from "../../support/rawServer";

/** A server that gives every request the same response. */
function startSame(status: number, body: string, headers: Record<string, string | string[]> = {}) {
  return startRawServer((_, response) => response.writeHead(status, headers).end(body));
}

const failureOf = async (call: Promise<unknown>) =>
  withoutCanary(
    await call.then(
      () => undefined,
      (error: unknown) => error,
    ),
  ) as ServerlessGpuError;

describe("an error", () => {
  test("an error contains the status, headers, body and request id of the response, over all three APIs", async () => {
    const body = JSON.stringify({ detail: "no such thing" });
    await using server = await startSame(404, body, { "x-request-id": "req-1", "content-type": "application/json" });
    await using client = clientOf(server);
    for (const call of [
      () => client.endpoints.list(),
      () => client.pods.get("p1"),
      () => client.endpoint("e1").health(),
      () => client.endpoint("e1").openaiStream("v1/models"),
    ]) {
      const error = await failureOf(call());
      expect(error).toMatchObject({ code: "NOT_FOUND", status: 404, requestId: "req-1", body });
      expect(error.headers).toMatchObject({ "content-type": "application/json", "x-request-id": "req-1" });
    }
  });

  test.each([
    [200, "<html>", "UNREADABLE_RESPONSE"],
    [200, '{"jobs": 5}', "UNEXPECTED_RESPONSE"],
    [503, "busy", "SERVICE_FAULT"],
    [429, "slow down", "RATE_LIMITED"],
  ])("an error also contains these details for a response with %d and %j", async (status, body, code) => {
    await using server = await startSame(status, body);
    await using client = clientOf(server);
    expect(await failureOf(client.endpoint("e1").health({ maxRetries: 0 }))).toMatchObject({ code, status, body });
  });

  test.each([401, 404])("an error does not blame the key or the record if a web page has status %d", async (status) => {
    await using server = await startSame(status, "<html><title>Log in</title></html>", { "content-type": "text/html" });
    await using client = clientOf(server);
    for (const call of [() => client.endpoints.list(), () => client.endpoint("e1").health()]) {
      const { message } = await failureOf(call());
      expect(message).toMatch(/an HTML page, so a gateway may have rejected it\)\. Check the URL/);
      expect(message).not.toMatch(/API key|record/);
    }
  });

  test("an error includes no cause that quotes a body that is not JSON", async () => {
    await using server = await startSame(200, "rpa_AAAABBBBCCCCDDDDEEEE");
    await using client = clientOf(server);
    for (const call of [
      () => client.endpoint("e1").health({ maxRetries: 0 }),
      () => client.endpoints.list({ maxRetries: 0 }),
    ]) {
      const error = await failureOf(call());
      expect(error.code).toBe("UNREADABLE_RESPONSE");
      expect(error.cause).toBeUndefined();
    }
  });

  test("a GraphQL error includes the status and body of its response", async () => {
    await using emulated = await startEmulated();
    const body = { data: null, errors: [{ message: "Something is wrong" }] };
    emulated.emulator.faults.add({ match: { operation: "myself" }, effect: { status: 200, body } });
    const error = await emulated.failure(emulated.client.endpoints.list());
    expect(error).toMatchObject({ code: "BUSINESS_RULE", status: 200, body: JSON.stringify(body) });
  });

  test("an error without a response contains none of these details", async () => {
    await using client = clientOf({ url: "http://127.0.0.1:1" });
    const error = await failureOf(client.endpoint("e1").health({ maxRetries: 0 }));
    for (const name of ["status", "headers", "body", "requestId", "jobId"]) expect(error).not.toHaveProperty(name);
  });

  test("an error names the job of the call", async () => {
    await using server = await startSame(404, "{}");
    await using client = clientOf(server);
    const job = client.endpoint("e1").job("job-7");
    for (const call of [() => job.status(), () => job.cancel(), () => job.stream().next(), () => job.wait()]) {
      expect(await failureOf(call())).toMatchObject({ code: "NOT_FOUND", jobId: "job-7" });
    }
    const input = { input: {} };
    expect(await failureOf(client.endpoint("e1").run(input))).not.toHaveProperty("jobId");
  });

  test("an error takes the details from its cause if a submit got an error response", async () => {
    await using server = await startSame(502, "bad gateway", { "cf-ray": "ray-1" });
    await using client = clientOf(server);
    const error = await failureOf(client.endpoint("e1").run({ input: {} }));
    expect(error).toMatchObject({ code: "SUBMIT_UNCERTAIN", status: 502, requestId: "ray-1", body: "bad gateway" });
  });

  test("an error shows no key in its headers or body, and at most 4,000 characters of the body", async () => {
    const body = `${CANARY} ${"x".repeat(5_000_000)} ${CANARY}`;
    const headers = { "x-echo": `Bearer ${CANARY}`, "set-cookie": [`key=${CANARY}`, "b=2"], "x-request-id": CANARY };
    await using server = await startSame(400, body, headers);
    await using client = clientOf(server);
    const error = await failureOf(client.endpoint("e1").health());
    expect(error.headers).toMatchObject({ "x-echo": "Bearer [redacted]", "set-cookie": ["key=[redacted]", "b=2"] });
    expect(error.requestId).toBe("[redacted]");
    expect(error.body?.length).toBeLessThanOrEqual(4_001);
    expect(error.body?.startsWith("[redacted] xxx")).toBe(true);
    // A log of the error stays short.
    expect(inspect(error).length).toBeLessThan(3_000);
    expect(Object.keys(error)).not.toContain("body");
  });
});
