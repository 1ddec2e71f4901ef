import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Emulator, type FaultEffect, type FaultRule, manualClock, startEmulator } from "../../../emulator";
import { createEndpoint, getPod, graphql, REQUIRED, save, send } from "../../support/plainClient";

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0, randomSeed: 1 });
});
afterEach(() => emulator.stop());

const LIST = "{ myself { endpoints { id name } } }";
const list = () => graphql(emulator, LIST);
const fault = (effect: FaultEffect, more: Omit<FaultRule, "effect"> = {}) => emulator.faults.add({ effect, ...more });
const stored = () => emulator.endpoints.list().length;

describe("effects", () => {
  test("a status is returned in the format of the API, with headers, and the request has no effect", async () => {
    fault({ status: 429, headers: { "retry-after": "7" } });
    const answer = await save(emulator, REQUIRED);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "7"]);
    expect(answer.body).toEqual({ errors: [{ message: "Too Many Requests" }] });
    expect((await getPod(emulator, "pod")).body).toEqual({ error: "too many requests", status: 429 });
    const health = await send(`${emulator.url}/v2/x/health`, { headers: { authorization: emulator.apiKey } });
    expect(health.body).toEqual({ status: 429, title: "Too Many Requests", detail: "too many requests" });
    expect(stored()).toBe(0);
  });

  test("a rule with when: after returns an error status although the request took effect", async () => {
    fault({ status: 503, when: "after" });
    expect((await save(emulator, REQUIRED)).status).toBe(503);
    expect(stored()).toBe(1);
  });

  test("a custom body is sent unchanged", async () => {
    fault({ status: 500, body: "oops" }, { times: 1 });
    fault({ status: 500, body: { why: "oops" } });
    expect((await list()).text).toBe("oops");
    expect((await list()).body).toEqual({ why: "oops" });
  });

  test("headers replace those of the response, and the length stays that of the body", async () => {
    fault({ status: 500, body: "<p>", headers: { "Content-Type": "text/html", "Content-Length": "99" } });
    const { status, text, headers } = await list();
    expect([status, text]).toEqual([500, "<p>"]);
    expect([headers.get("content-type"), headers.get("content-length")]).toEqual(["text/html", "3"]);
  });

  test("a GraphQL error is returned with status 200 and with the data of a failed operation", async () => {
    fault({ graphqlError: { message: "Something went wrong" } }, { match: { operation: "myself" } });
    fault({ graphqlError: { message: "No", code: "RUNPOD" } }, { match: { operation: "deleteEndpoint" } });
    const errorOf = (path: string, message: string, code: string) => [{ message, path: [path], extensions: { code } }];
    expect(await list()).toMatchObject({
      status: 200,
      body: { errors: errorOf("myself", "Something went wrong", "INTERNAL_SERVER_ERROR"), data: null },
    });
    expect((await graphql(emulator, 'mutation { deleteEndpoint(id: "x") }')).body).toEqual({
      errors: errorOf("deleteEndpoint", "No", "RUNPOD"),
      data: { deleteEndpoint: null },
    });
  });

  test("a rule can make the account null", async () => {
    fault({ nullAccount: true });
    expect(await list()).toMatchObject({ status: 200, body: { data: { myself: null } } });
  });

  test("a rule can return an HTML page instead of JSON", async () => {
    fault({ html: true }, { times: 1 });
    fault({ html: true, status: 403 });
    const [first, second] = [await list(), await list()];
    expect([first.status, first.headers.get("content-type")]).toEqual([502, "text/html; charset=utf-8"]);
    expect(first.text).toMatch(/^<!DOCTYPE html>/);
    expect(second.status).toBe(403);
  });

  test("a truncated body arrives as a complete response that is not JSON", async () => {
    fault({ truncated: true });
    const { status, text, body } = await save(emulator, REQUIRED);
    expect([status, body]).toEqual([200, undefined]);
    expect(text).toMatch(/^\{"data"/);
    expect(stored()).toBe(1);
  });

  test("latency delays a response and changes nothing else", async () => {
    fault({ latencyMs: 50 });
    expect((await list()).body).toEqual({ data: { myself: { endpoints: [] } } });
    expect(emulator.journal.requests()[0]?.durationMs).toBeGreaterThanOrEqual(49);
  });

  test.each([
    ["before", 0],
    ["after", 1],
  ] as const)("the connection is reset %s the request takes effect", async (when, endpoints) => {
    fault({ reset: true, when });
    await expect(save(emulator, REQUIRED)).rejects.toThrow("fetch failed");
    expect(stored()).toBe(endpoints);
  });

  test("a reset midway happens after the status and half of the body", async () => {
    fault({ reset: "midway" });
    const response = await fetch(`${emulator.url}/graphql?api_key=${emulator.apiKey}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query: LIST }),
    });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  });

  test.each([
    ["before", 0],
    ["after", 1],
  ] as const)("a request hangs %s its effect until the client gives up", async (when, endpoints) => {
    fault({ hang: true, when });
    const client = new AbortController();
    const response = fetch(`${emulator.url}/graphql?api_key=${emulator.apiKey}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query: `mutation { saveEndpoint(input: { ${REQUIRED} }) { id } }` }),
      signal: client.signal,
    });
    const pending = () => emulator.journal.requests({ outcome: "pending" }).length;
    while (pending() === 0 || stored() < endpoints) await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect([pending(), stored()]).toEqual([1, endpoints]);
    client.abort(new Error("given up"));
    await expect(response).rejects.toThrow("given up");
    while (pending() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(stored()).toBe(endpoints);
  });

  test("a hanging request does not prevent the emulator from stopping", async () => {
    fault({ hang: true });
    const hanging = list().catch(() => "cut");
    while (emulator.journal.requests().length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(emulator.journal.requests()[0]?.outcome).toBe("pending");
    await emulator.stop();
    expect(await hanging).toBe("cut");
    expect(emulator.journal.requests()[0]?.outcome).toBe("cut");
  });

  test("lists can be empty, while reads by id still find the record", async () => {
    await using observed = await startEmulator({ profile: "observed" });
    const id = await createEndpoint(observed);
    observed.faults.add({ effect: { emptyLists: true } });
    const query = (document: string) => graphql(observed, document).then(({ body }) => body.data.myself);
    expect(await query("{ myself { endpoints { id } } }")).toEqual({ endpoints: [] });
    expect(await query(`{ myself { endpoint(id: "${id}") { id } } }`)).toEqual({ endpoint: { id } });
  });

  test("a dropped webhook is tried again", async () => {
    const received: string[] = [];
    const receiver = createServer((request, response) => {
      request.resume();
      received.push(request.url ?? "");
      response.end();
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    const { port } = receiver.address() as AddressInfo;
    const clock = manualClock();
    await using timed = await startEmulator({ profile: "contract", clock });
    const rule = timed.faults.add({ effect: { dropWebhook: true }, times: 1 });
    const id = await createEndpoint(timed, "workersMin: 1");
    await send(`${timed.url}/v2/${id}/run`, {
      method: "POST",
      headers: { authorization: timed.apiKey, "content-type": "application/json" },
      body: JSON.stringify({ input: { n: 1 }, webhook: `http://127.0.0.1:${port}/hook` }),
    });
    await clock.advance(9_000);
    expect(received).toEqual([]);
    expect(timed.faults.list()).toMatchObject([{ id: rule.id, applied: 1 }]);
    await clock.advance(2_000);
    expect(received).toEqual(["/hook"]);
    receiver.close();
  });

  test("a list can lag behind creations, changes and deletions", async () => {
    const clock = manualClock();
    await using timed = await startEmulator({ profile: "contract", clock });
    const list = () => graphql(timed, LIST);
    const kept = await createEndpoint(timed, "workersMax: 0");
    const removed = await createEndpoint(timed, "workersMax: 0");
    await clock.advance(120);
    const rule = timed.faults.add({ effect: { listLagMs: 100 } });
    await createEndpoint(timed);
    await save(timed, `id: "${kept}", name: "renamed", gpuIds: "AMPERE_16", templateId: "t"`);
    await graphql(timed, `mutation { deleteEndpoint(id: "${removed}") }`);
    const before = (await list()).body.data.myself.endpoints;
    expect(before).toHaveLength(2);
    expect(before).toEqual(
      expect.arrayContaining([
        { id: kept, name: "a" },
        { id: removed, name: "a" },
      ]),
    );
    await clock.advance(120);
    const after = (await list()).body.data.myself.endpoints;
    expect(after).toHaveLength(2);
    expect(after[0]).toEqual({ id: kept, name: "renamed" });
    timed.faults.remove(rule.id);
    expect((await list()).body.data.myself.endpoints).toEqual(after);
  });
});

describe("rules", () => {
  const statuses = async (count: number) => {
    const seen: number[] = [];
    for (let i = 0; i < count; i++) seen.push((await list()).status);
    return seen;
  };

  test("match by interface, operation and endpoint", async () => {
    const id = await createEndpoint(emulator);
    fault({ status: 500 }, { match: { interface: "rest" } });
    fault({ status: 501 }, { match: { operation: "myself" } });
    fault({ status: 502 }, { match: { endpointId: id } });
    expect((await getPod(emulator, "pod")).status).toBe(500);
    expect((await list()).status).toBe(501);
    expect((await save(emulator, REQUIRED)).status).toBe(200);
    expect((await save(emulator, `id: "${id}", ${REQUIRED}`)).status).toBe(502);
    const health = await send(`${emulator.url}/v2/${id}/health`, { headers: { authorization: emulator.apiKey } });
    expect(health.status).toBe(502);
  });

  test("rules are checked in order, and only the first match is applied", async () => {
    fault({ status: 500 }, { times: 1 });
    fault({ status: 501 });
    expect(await statuses(3)).toEqual([500, 501, 501]);
  });

  test("apply a limited number of times, or to the nth request", async () => {
    fault({ status: 500 }, { times: 2 });
    expect(await statuses(3)).toEqual([500, 500, 200]);
    emulator.faults.clear();
    fault({ status: 500 }, { match: { nth: 2 } });
    expect(await statuses(3)).toEqual([200, 500, 200]);
    emulator.faults.clear();
    // Requests to which another rule was applied also count.
    fault({ status: 501 }, { match: { nth: 1 } });
    fault({ status: 502 }, { match: { nth: 2 } });
    expect(await statuses(3)).toEqual([501, 502, 200]);
  });

  test("apply with a probability, and the same seed makes the same choices", async () => {
    const run = async (randomSeed: number) => {
      emulator = await startEmulator({ profile: "contract", randomSeed });
      fault({ status: 500 }, { match: { probability: 0.5 } });
      const seen = await statuses(20);
      await emulator.stop();
      return seen;
    };
    await emulator.stop();
    const seen = await run(3);
    expect(new Set(seen)).toEqual(new Set([200, 500]));
    expect(await run(3)).toEqual(seen);
    expect(await run(4)).not.toEqual(seen);
    emulator = await startEmulator({ profile: "contract" });
  });

  test("rules report how often they matched and applied, and appear in the journal", async () => {
    const { id } = fault({ status: 500 }, { times: 1, name: "outage" });
    fault({ reset: true, when: "after", latencyMs: 1 }, { match: { operation: "getPod" } });
    await statuses(2);
    await getPod(emulator, "pod").catch(() => {});
    expect(emulator.faults.list()).toMatchObject([
      { id, name: "outage", matched: 3, applied: 1 },
      { name: "latencyMs 1, reset, when after", matched: 1, applied: 1 },
    ]);
    expect(
      emulator.journal.requests().map((entry) => [entry.operation, entry.fault, entry.status, entry.outcome]),
    ).toEqual([
      ["myself", "outage", 500, "error"],
      ["myself", undefined, 200, "ok"],
      ["getPod", "latencyMs 1, reset, when after", undefined, "cut"],
    ]);
  });

  test("rules are refused with a list of all mistakes if they are malformed", () => {
    const wrong = {
      match: { interface: "soap", nth: 0 },
      effect: { status: 99, color: "red" },
    } as unknown as FaultRule;
    for (const field of ["interface", "nth", "status", "color"]) {
      expect(() => emulator.faults.add(wrong)).toThrow(field);
    }
    const badHeaders: [string, string][] = [
      ["retry after", "2"],
      ["", "x"],
      ["x-a", "one\r\ntwo"],
      ["x-a", "\u4e2d"],
    ];
    for (const [name, value] of badHeaders) {
      expect(() => fault({ status: 429, headers: { [name]: value } })).toThrow(/header.*effect\.headers/is);
    }
    expect(() => fault({ status: 500, reset: true })).toThrow(/at most one of/);
    expect(() => fault({ html: true, hang: true })).toThrow(/at most one of/);
    expect(emulator.faults.list()).toEqual([]);
  });
});
