import { type Emulator, manualClock, startEmulator } from "../../../emulator";
import { GPU_TIERS } from "../../../sdk/contract/limits";
import { createEndpoint, ENDPOINT_FIELDS, graphql, REQUIRED, save, send } from "../../support/plainClient";

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0, restrictedApiKey: "restricted-key" });
});
afterEach(() => emulator.stop());

const LIST = `{ myself { endpoints { ${ENDPOINT_FIELDS} } } }`;

const post = (body: string, query = `api_key=${emulator.apiKey}`, on = emulator, headers = {}) =>
  send(`${on.url}/graphql?${query}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });

describe("documents", () => {
  test.each([
    ["an unknown field", `${REQUIRED}, color: "red"`],
    ["a wrong type", `${REQUIRED}, workersMin: "1"`],
    ["a quoted enum", `${REQUIRED}, flashBootType: "FLASHBOOT"`],
    ["a fraction of a worker", `${REQUIRED}, workersMax: 1.5`],
  ])("[graphql.validation] %s is refused with 400", async (_, input) => {
    const { status, body } = await save(emulator, input);
    expect([status, body.errors[0].extensions.code]).toEqual([400, "GRAPHQL_VALIDATION_FAILED"]);
    expect(body.data).toBeUndefined();
    expect(emulator.endpoints.list()).toEqual([]);
  });

  test("[graphql.selection] a response contains only the selected fields, under their aliases", async () => {
    const { body } = await graphql(emulator, `mutation { saved: saveEndpoint(input: { ${REQUIRED} }) { id } }`);
    expect(body.data).toEqual({ saved: { id: expect.any(String) } });
  });

  test("[graphql.variables] variables are accepted and validated", async () => {
    const query = "mutation ($input: EndpointInput!) { saveEndpoint(input: $input) { name } }";
    const input = { name: "v", gpuIds: "AMPERE_16", templateId: "t" };
    const { body } = await post(JSON.stringify({ query, variables: { input } }));
    expect(body).toEqual({ data: { saveEndpoint: { name: "v" } } });
    const wrong = await post(JSON.stringify({ query, variables: { input: { ...input, workersMax: "3" } } }));
    expect([wrong.status, wrong.body.errors[0].extensions.code]).toEqual([400, "GRAPHQL_VALIDATION_FAILED"]);
  });

  test("[graphql.quota] a request above the quota of its time window returns 429", async () => {
    const clock = manualClock();
    await using limited = await startEmulator({ profile: "contract", clock, rateLimits: { graphql: "real" } });
    const list = () => post(JSON.stringify({ query: LIST }), `api_key=${limited.apiKey}`, limited);
    for (let request = 1; request <= 180; request++) expect((await list()).status).toBe(200);
    expect(await list()).toMatchObject({ status: 429, body: { errors: [{ message: "Too Many Requests" }] } });
    await clock.advance(60_000);
    expect((await list()).status).toBe(200);
  });

  test.each([
    ["a body that is no JSON", "{", "BAD_REQUEST"],
    ["a body without a query", "{}", "BAD_REQUEST"],
    ["null for a body", "null", "BAD_REQUEST"],
    ["a query that cannot be parsed", '{"query": "{ myself"}', "GRAPHQL_PARSE_FAILED"],
  ])("[graphql.malformed] %s is refused with 400", async (_, text, code) => {
    const { status, body } = await post(text);
    expect([status, body.errors[0].extensions.code]).toEqual([400, code]);
  });

  test("[graphql.post-only] GET is refused", async () => {
    const query = encodeURIComponent("{ myself { endpoints { id } } }");
    const { status } = await send(`${emulator.url}/graphql?api_key=${emulator.apiKey}&query=${query}`);
    expect(status).toBe(405);
  });

  test("[server.too-large] a body over 20 MB is refused", async () => {
    const { status, body } = await post(JSON.stringify({ query: `# ${"x".repeat(20_000_000)}\n${LIST}` }));
    expect([status, body.errors[0].message]).toEqual([413, "The request body is too large"]);
  });

  test("[server.unknown-path] a path outside the three APIs is not found", async () => {
    expect((await send(`${emulator.url}/graphq`)).status).toBe(404);
  });
});

describe("keys in the contract profile", () => {
  test("[graphql.key-in-query] a key in the query string is accepted", async () => {
    expect((await graphql(emulator, LIST)).body).toEqual({ data: { myself: { endpoints: [] } } });
  });

  test.each([
    ["[graphql.wrong-key] a wrong key", "api_key=wrong"],
    ["[graphql.no-permission] a key without permission", "api_key=restricted-key"],
    ["[graphql.no-key] no key", ""],
    ["[graphql.no-key] an empty key", "api_key="],
  ])("%s returns 401 [graphql.unauthorized-body]", async (_, query) => {
    const { status, body, headers } = await post(JSON.stringify({ query: LIST }), query);
    expect(status).toBe(401);
    expect(body).toEqual({ errors: [{ message: "Unauthorized" }] });
    expect(headers.get("x-emulator-fidelity")).toBe("assumed");
  });

  test("[graphql.wrong-key] a request with a wrong key changes nothing", async () => {
    await graphql(emulator, `mutation { saveEndpoint(input: { ${REQUIRED} }) { id } }`, "wrong");
    expect(emulator.endpoints.list()).toEqual([]);
  });

  test("[graphql.bearer-refused] a key in a header is not accepted", async () => {
    const headers = { authorization: `Bearer ${emulator.apiKey}` };
    expect((await post(JSON.stringify({ query: LIST }), "", emulator, headers)).status).toBe(401);
  });
});

describe("keys in the observed profile", () => {
  let observed: Emulator;
  beforeEach(async () => {
    observed = await startEmulator({ profile: "observed", restrictedApiKey: "restricted-key" });
  });
  afterEach(() => observed.stop());
  const query = (text: string, keyed: string, headers = {}) =>
    post(JSON.stringify({ query: text }), keyed, observed, headers);

  test("[graphql.bearer] a key in a header is accepted", async () => {
    const { body } = await query(LIST, "", { authorization: `Bearer ${observed.apiKey}` });
    expect(body).toEqual({ data: { myself: { endpoints: [] } } });
  });

  test("[graphql.wrong-key] a request with a wrong key returns 401", async () => {
    expect((await query(LIST, "api_key=wrong")).status).toBe(401);
  });

  test("[graphql.no-permission-observed] a request with a key without permission returns 200 with an error", async () => {
    const { status, body } = await query(LIST, "api_key=restricted-key");
    expect([status, body]).toEqual([200, { errors: [{ message: "Unauthorized" }], data: { myself: null } }]);
  });

  test("[graphql.no-key-observed] a request without a key returns 200 with a null account and no error", async () => {
    const { status, body } = await query(LIST, "");
    expect([status, body]).toEqual([200, { data: { myself: null } }]);
  });

  test("[graphql.no-key-mutation] a mutation without a key is refused and changes nothing", async () => {
    const { status, body } = await query(`mutation { saveEndpoint(input: { ${REQUIRED} }) { id } }`, "");
    expect([status, body]).toEqual([200, { errors: [{ message: "Unauthorized" }], data: null }]);
    expect(observed.endpoints.list()).toEqual([]);
  });
});

describe("saveEndpoint in the observed profile", () => {
  let observed: Emulator;
  beforeEach(async () => {
    observed = await startEmulator({ profile: "observed" });
  });
  afterEach(() => observed.stop());
  const saved = async (input: string) => (await save(observed, input)).body.data.saveEndpoint;

  test("[save.flash-boot-off-observed] OFF clears FLASHBOOT", async () => {
    const { id, flashBootType } = await saved(`${REQUIRED}, flashBootType: FLASHBOOT`);
    expect(flashBootType).toBe("FLASHBOOT");
    expect((await saved(`id: "${id}", ${REQUIRED}, flashBootType: OFF`)).flashBootType).toBe("OFF");
  });

  test("[save.flash-boot-null-observed] null keeps FLASHBOOT", async () => {
    const { id } = await saved(`${REQUIRED}, flashBootType: FLASHBOOT`);
    expect((await saved(`id: "${id}", ${REQUIRED}, flashBootType: null`)).flashBootType).toBe("FLASHBOOT");
  });

  test("[save.flash-boot-shown] an endpoint without FLASHBOOT shows OFF", async () => {
    expect((await saved(REQUIRED)).flashBootType).toBe("OFF");
  });

  test("[save.flash-boot-suffix] the name of an endpoint with FLASHBOOT is shown with exactly one suffix", async () => {
    const { id, name } = await saved(`${REQUIRED}, flashBootType: FLASHBOOT`);
    expect(name).toBe("a -fb");
    const again = await saved(`id: "${id}", name: "a -fb", gpuIds: "AMPERE_16", templateId: "t"`);
    expect(again.name).toBe("a -fb");
    expect((await saved(`id: "${id}", ${REQUIRED}, flashBootType: OFF`)).name).toBe("a");
  });

  test.each(GPU_TIERS)("[save.newer-tiers] tier %s is accepted", async (tier) => {
    expect((await saved(`name: "a", gpuIds: "${tier}", templateId: "t"`)).gpuIds).toBe(tier);
  });
});

describe("myself", () => {
  test("[myself.endpoints] myself lists every endpoint with its fields", async () => {
    const first = (await save(emulator, `${REQUIRED}, locations: "CZ"`)).body.data.saveEndpoint;
    const second = (await save(emulator, `${REQUIRED}, workersMax: 7`)).body.data.saveEndpoint;
    expect((await graphql(emulator, LIST)).body.data.myself.endpoints).toEqual([first, second]);
  });

  test("[myself.pods] [save.workers] myself returns the workers of an endpoint", async () => {
    await createEndpoint(emulator, "workersMin: 2");
    expect((await graphql(emulator, LIST)).body.data.myself.endpoints[0].pods).toEqual([
      { desiredStatus: "RUNNING" },
      { desiredStatus: "RUNNING" },
    ]);
  });

  const DISCOUNT = "{ myself { serverlessDiscount { discountFactor type expirationDate } } }";

  test("[myself.no-discount] myself returns no discount by default", async () => {
    expect((await graphql(emulator, DISCOUNT)).body.data).toEqual({ myself: { serverlessDiscount: null } });
  });

  test("[myself.discount] myself returns the account's discount", async () => {
    const serverlessDiscount = { discountFactor: 0.1, type: "SAVINGS", expirationDate: "2027-01-01T00:00:00.000Z" };
    await using discounted = await startEmulator({ profile: "contract", serverlessDiscount });
    expect((await graphql(discounted, DISCOUNT)).body.data).toEqual({ myself: { serverlessDiscount } });
  });
});

describe("deleteEndpoint", () => {
  const remove = (id: string, on = emulator) => graphql(on, `mutation { deleteEndpoint(id: "${id}") }`);
  const zero = (id: string, on = emulator) => save(on, `id: "${id}", ${REQUIRED}, workersMin: 0, workersMax: 0`);
  const refusal = (message: RegExp) => ({
    data: { deleteEndpoint: null },
    errors: [expect.objectContaining({ message: expect.stringMatching(message), extensions: { code: "RUNPOD" } })],
  });

  test("[delete.done] an endpoint without workers is deleted", async () => {
    const id = await createEndpoint(emulator, "workersMax: 0");
    expect(await remove(id)).toMatchObject({ status: 200, body: { data: { deleteEndpoint: null } } });
    expect((await graphql(emulator, LIST)).body.data.myself.endpoints).toEqual([]);
  });

  test.each([
    "workersMin: 1, workersMax: 1",
    "workersMax: 1",
  ])("[delete.workers-not-zero] [delete.same-data] an endpoint with %s cannot be deleted", async (workers) => {
    const id = await createEndpoint(emulator, workers);
    expect((await remove(id)).body).toEqual(refusal(/workersMin and workersMax/));
    expect(emulator.endpoints.get(id)).toBeDefined();
  });

  test("[delete.draining] an endpoint cannot be deleted until its workers have stopped", async () => {
    const clock = manualClock();
    await using slow = await startEmulator({ profile: "contract", drainMs: 100, clock });
    const id = await createEndpoint(slow, "workersMin: 1");
    const pods = async () => (await zero(id, slow)).body.data.saveEndpoint.pods;
    expect(await pods()).toEqual([{ desiredStatus: "RUNNING" }]);
    expect((await remove(id, slow)).body).toEqual(refusal(/workers/));
    await clock.advance(100);
    expect(await pods()).toEqual([]);
    expect((await remove(id, slow)).body).toEqual({ data: { deleteEndpoint: null } });
  });

  test("[delete.unknown-id] an unknown or already deleted id is not found", async () => {
    expect((await remove("nope")).body).toEqual(refusal(/not found/i));
    const id = await createEndpoint(emulator, "workersMax: 0");
    await remove(id);
    expect((await remove(id)).body).toEqual(refusal(/not found/i));
  });
});
