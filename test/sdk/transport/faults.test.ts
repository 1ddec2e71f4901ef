import type { FaultEffect } from "../../../emulator/server/faultRule";
import {
  AuthenticationError,
  NotFoundError,
  QuotaExceededError,
  RateLimitError,
  RejectedError,
  UnexpectedResponseError,
} from "../../../sdk/errors/errors";
import { CANARY, type Emulated, startEmulated } from "../../support/emulated";

const INPUT = { name: "llama", gpuIds: "AMPERE_24", templateId: "abc123" } as const;
const myself = { operation: "myself" };

/** The pauses between the requests so far, in milliseconds of virtual time. */
function pauses({ emulator }: Emulated): number[] {
  const times = emulator.journal.requests().map(({ at }) => at);
  return times.slice(1).map((at, index) => at - (times[index] as number));
}

describe("a passing fault", () => {
  test.each<[string, FaultEffect]>([
    ["500", { status: 500 }],
    ["502 with HTML", { html: true }],
    ["503", { status: 503, body: "" }],
    ["599", { status: 599, body: "odd" }],
    ["a connection reset", { reset: true }],
    ["a body cut in the middle", { reset: "midway" }],
    ["truncated JSON", { truncated: true }],
    ["no JSON", { status: 200, body: "OK" }],
    ["an empty body", { status: 200, body: "" }],
    ["a server fault of GraphQL", { graphqlError: { message: "Something went wrong. Please try again later" } }],
    ["a hang", { hang: true }],
  ])("a read is retried after limited pauses that double each time: %s", async (_what, effect) => {
    await using emulated = await startEmulated();
    emulated.emulator.endpoints.create(INPUT);
    emulated.emulator.faults.add({ match: myself, effect, times: 3 });
    expect(await emulated.run(emulated.client.endpoints.list())).toHaveLength(1);
    expect(emulated.calls()).toEqual(["myself", "myself", "myself", "myself"]);
    const hangMs = effect.hang ? 30_000 : 0;
    pauses(emulated).forEach((pause, index) => {
      expect(pause).toBeGreaterThanOrEqual(hangMs);
      expect(pause).toBeLessThanOrEqual(hangMs + 500 * 2 ** index + 100);
    });
  });

  test("a read that exceeds the GraphQL quota waits until the next time window", async () => {
    await using emulated = await startEmulated({ emulator: { rateLimits: { graphql: { perMinute: 1 } } } });
    await emulated.run(emulated.client.endpoints.list());
    expect(await emulated.run(emulated.client.endpoints.list())).toEqual([]);
    const refused = emulated.emulator.journal.requests().filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(2);
    expect(refused.length).toBeLessThan(6);
  });

  test("a Retry-After longer than the time left fails the call immediately, and the error says when to try again", async () => {
    await using emulated = await startEmulated();
    emulated.emulator.faults.add({ match: myself, effect: { status: 429, headers: { "retry-after": "300" } } });
    const startedAt = emulated.clock.now();
    const error = await emulated.failure(emulated.client.endpoints.list());
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ retryAfterMs: 300_000 });
    const [, when = ""] =
      /a wait of 300 s, longer than this call may take: try again at (\S+) or later/.exec(error.message) ?? [];
    expect(Math.abs(Date.parse(when) - startedAt - 300_000)).toBeLessThan(1_000);
    expect(emulated.calls()).toEqual(["myself"]);
    expect(emulated.clock.now() - startedAt).toBeLessThan(1_000);
  });

  test("a change is retried with the same save, including the id", async () => {
    await using emulated = await startEmulated();
    const { id } = emulated.emulator.endpoints.create(INPUT);
    emulated.emulator.faults.add({
      match: { operation: "saveEndpoint" },
      effect: { reset: true, when: "after" },
      times: 2,
    });
    expect(await emulated.run(emulated.client.endpoints.update(id, { workersMax: 1 }))).toMatchObject({
      id,
      workersMax: 1,
    });
    expect(emulated.calls()).toEqual(["myself", "saveEndpoint", "saveEndpoint", "saveEndpoint"]);
    const [first, ...others] = emulated.emulator.journal.requests({ operation: "saveEndpoint" });
    for (const other of others) expect(other.arguments).toEqual(first?.arguments);
  });

  test.each<[string, string, number]>([
    ["in seconds", "7", 7_000],
    ["in broken seconds", "1.5", 1_500],
  ])("the client waits as long as Retry-After says: %s", async (_form, header, expectedMs) => {
    await using emulated = await startEmulated();
    emulated.emulator.faults.add({
      match: myself,
      effect: { status: 429, headers: { "retry-after": header } },
      times: 2,
    });
    await emulated.run(emulated.client.endpoints.list());
    expect(pauses(emulated)).toEqual([expectedMs, expectedMs]);
  });

  test("the client pauses even if Retry-After is 0, so that callers do not all return at the same time", async () => {
    await using emulated = await startEmulated();
    emulated.emulator.faults.add({ match: myself, effect: { status: 429, headers: { "retry-after": "0" } }, times: 5 });
    await emulated.run(emulated.client.endpoints.list());
    const [first = 0, ...others] = pauses(emulated);
    expect(first).toBeLessThanOrEqual(500);
    expect(new Set([first, ...others]).size).toBeGreaterThan(1);
  });

  test("the client waits until the date in Retry-After", async () => {
    await using emulated = await startEmulated();
    const header = new Date(emulated.clock.now() + 20_000).toUTCString();
    emulated.emulator.faults.add({
      match: myself,
      effect: { status: 503, headers: { "retry-after": header } },
      times: 1,
    });
    await emulated.run(emulated.client.endpoints.list());
    expect(pauses(emulated)[0]).toBeGreaterThan(18_000);
    expect(pauses(emulated)[0]).toBeLessThanOrEqual(20_000);
  });

  test.each([
    "soon",
    "-5",
    "",
    "Wed, 01 Jan 2020 00:00:00 GMT",
    "NaN",
  ])("the client uses its own pause if Retry-After is invalid: %j", async (header) => {
    await using emulated = await startEmulated();
    emulated.emulator.faults.add({
      match: myself,
      effect: { status: 429, headers: { "retry-after": header } },
      times: 1,
    });
    await emulated.run(emulated.client.endpoints.list());
    expect(pauses(emulated)[0]).toBeLessThanOrEqual(500);
  });
});

describe("a fault that stays", () => {
  test.each<[string, FaultEffect, string, RegExp]>([
    ["429", { status: 429 }, "RATE_LIMITED", /responded with 429.*too many requests.*given up after 6 attempts/],
    ["500", { status: 500 }, "SERVICE_FAULT", /responded with 500.*Internal Server Error.*an error inside the service/],
    ["502", { html: true }, "SERVICE_FAULT", /responded with 502 \(an HTML page, so a gateway may have rejected it\)/],
    [
      "HTML in a 200",
      { html: true, status: 200 },
      "UNREADABLE_RESPONSE",
      /responded with 200 and an HTML page.*<h1>Bad gateway/,
    ],
    ["truncation", { truncated: true }, "UNREADABLE_RESPONSE", /not complete JSON/],
    [
      "a server fault",
      { graphqlError: { message: "Something went wrong" } },
      "SERVICE_FAULT",
      /"Something went wrong"/,
    ],
  ])("a fault that stays ends the call after six attempts, and the error describes the fault: %s", async (_what, effect, code, message) => {
    await using emulated = await startEmulated();
    emulated.emulator.faults.add({ match: myself, effect });
    const error = await emulated.failure(emulated.client.endpoints.list());
    expect(error).toMatchObject({ code });
    expect(error.message).toMatch(/^the list of endpoints: the service /);
    expect(error.message).toMatch(message);
    expect(error.message).toMatch(/given up after 6 attempts in [0-9]+ s/);
    expect(error).toMatchObject({ attempts: 6, disposition: "wait" });
    expect(emulated.calls()).toHaveLength(6);
  });
});

describe("what is final", () => {
  test.each<[string, FaultEffect, new (message: string) => Error, RegExp]>([
    [
      "401",
      { status: 401 },
      AuthenticationError,
      /responded with 401.*Check that the API key is right and has permission/,
    ],
    ["401 without a body", { status: 401, body: "" }, AuthenticationError, /responded with 401 \(no body\)/],
    [
      "Unauthorized in a 200",
      { graphqlError: { message: "Unauthorized", code: "X" } },
      AuthenticationError,
      /"Unauthorized"/,
    ],
    ["no account in a 200", { nullAccount: true }, AuthenticationError, /found no account for this API key/],
    ["403 with HTML", { status: 403, html: true }, RejectedError, /responded with 403 \(an HTML page, so a gateway/],
    ["404", { status: 404 }, NotFoundError, /responded with 404/],
    ["400", { status: 400, body: { error: "bad" } }, RejectedError, /responded with 400.*"bad"/],
    [
      "a validation error",
      {
        status: 400,
        body: { errors: [{ message: "Cannot query", extensions: { code: "GRAPHQL_VALIDATION_FAILED" } }] },
      },
      RejectedError,
      /"Cannot query"/,
    ],
    ["302", { status: 302, body: "" }, RejectedError, /responded with 302/],
    [
      "a list that is an object",
      { status: 200, body: { data: { myself: { endpoints: {} } } } },
      UnexpectedResponseError,
      /unexpected shape \(endpoints/,
    ],
    [
      "an endpoint without id",
      { status: 200, body: { data: { myself: { endpoints: [{ name: "x" }] } } } },
      UnexpectedResponseError,
      /a record without an id \("x"\): id: /,
    ],
    ["no endpoints", { status: 200, body: { data: { myself: {} } } }, UnexpectedResponseError, /endpoints/],
    ["no myself", { status: 200, body: { data: {} } }, UnexpectedResponseError, /no data\.myself/],
    ["data null", { status: 200, body: { data: null } }, UnexpectedResponseError, /no data\.myself/],
    ["nothing", { status: 200, body: {} }, UnexpectedResponseError, /no data\.myself/],
    ["a number", { status: 200, body: 7 }, UnexpectedResponseError, /neither GraphQL data nor GraphQL errors/],
    [
      "errors of another shape",
      { status: 200, body: { errors: ["broken"] } },
      UnexpectedResponseError,
      /neither GraphQL data nor GraphQL errors/,
    ],
    [
      "errors next to data",
      { status: 200, body: { data: { myself: { endpoints: [] } }, errors: [{ message: "partly" }] } },
      RejectedError,
      /"partly"/,
    ],
  ])("a final response is not requested again, and never counts as an empty list: %s", async (_what, effect, type, message) => {
    await using emulated = await startEmulated();
    emulated.emulator.faults.add({ match: myself, effect });
    const error = await emulated.failure(emulated.client.endpoints.list());
    expect(error).toBeInstanceOf(type);
    expect(error.message).toMatch(message);
    expect(error).toMatchObject({ attempts: 1, disposition: "stop" });
    expect(emulated.calls()).toEqual(["myself"]);
  });

  test("an errors field that is null next to data is not an error", async () => {
    await using emulated = await startEmulated();
    emulated.emulator.faults.add({
      effect: { status: 200, body: { data: { myself: { endpoints: [] } }, errors: null } },
    });
    expect(await emulated.run(emulated.client.endpoints.list())).toEqual([]);
  });

  test("fields and values that the contract does not know are not errors", async () => {
    await using emulated = await startEmulated();
    const odd = {
      id: "ep",
      name: "n",
      gpuIds: "NEW_1",
      flashBootType: "TURBO",
      scalerType: "MAGIC",
      pods: [{ desiredStatus: "THROTTLED" }],
      more: 1,
    };
    emulated.emulator.faults.add({ effect: { status: 200, body: { data: { myself: { endpoints: [odd] } } } } });
    expect(await emulated.run(emulated.client.endpoints.list())).toMatchObject([
      { ...odd, templateId: "", idleTimeout: 10, workersMax: 3, locations: "" },
    ]);
  });
});

describe("a wrong key", () => {
  test.each([
    "contract",
    "observed",
  ] as const)("a wrong key or a key without permission is refused (%s profile)", async (profile) => {
    for (const apiKey of [`${CANARY}-wrong`, `${CANARY}-restricted`]) {
      await using emulated = await startEmulated({
        emulator: { profile, restrictedApiKey: `${CANARY}-restricted` },
        client: { apiKey },
      });
      expect(await emulated.failure(emulated.client.endpoints.list())).toBeInstanceOf(AuthenticationError);
      expect(await emulated.failure(emulated.client.endpoints.create(INPUT))).toBeInstanceOf(AuthenticationError);
      expect(emulated.calls()).toEqual(["myself", "myself"]);
    }
  });
});

describe("a rule of the service", () => {
  test("a rule of the service is reported as a quota error if it is about the quota", async () => {
    await using emulated = await startEmulated({ emulator: { workerQuota: 4 } });
    emulated.emulator.endpoints.create({ ...INPUT, name: "old" });
    const error = await emulated.failure(emulated.client.endpoints.create(INPUT));
    expect(error).toBeInstanceOf(QuotaExceededError);
    expect(error).toMatchObject({ code: "QUOTA_EXCEEDED" });
    expect(error.message).toMatch(/one quota for the whole account: lower the workersMax of this or another endpoint/);
    expect(emulated.emulator.endpoints.list()).toHaveLength(1);
  });

  test.each([
    "unauthorized",
    "not found",
    "quota",
  ])("a rule of the service is recognized even if its text quotes a name: %s", async (name) => {
    await using emulated = await startEmulated();
    const graphqlError = { message: `Endpoint "my ${name} endpoint" is locked`, code: "RUNPOD" };
    emulated.emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: { graphqlError } });
    expect(await emulated.failure(emulated.client.endpoints.create(INPUT))).toMatchObject({ code: "BUSINESS_RULE" });
  });

  test("a rule of the service is reported in the service's words if it is about anything else", async () => {
    await using emulated = await startEmulated({ emulator: { templates: ["there"] } });
    const error = await emulated.failure(
      emulated.client.endpoints.create({ ...INPUT, name: "Unauthorized quota not found" }),
    );
    expect(error).toBeInstanceOf(RejectedError);
    expect(error.message).toMatch(/the service says "Unable to find template/);
  });
});
