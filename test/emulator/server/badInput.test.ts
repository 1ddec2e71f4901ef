import fc from "fast-check";
import { type Emulator, type SeededTemplate, startEmulator } from "../../../emulator";
import { graphql, REQUIRED, save, send } from "../../support/plainClient";

let emulator: Emulator;

beforeAll(async () => {
  emulator = await startEmulator({
    profile: "contract",
    seed: { endpoints: [{ id: "one", name: "one", gpuIds: "ADA_24", templateId: "t" }] },
  });
});

afterAll(() => emulator.stop());

/** It accepted or refused the request, and did not fail. */
const isAnswered = (status: number) => status < 500 || status === 501;

const oddText = fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.json());
const segment = fc.oneof(
  fc.string().map(encodeURIComponent),
  fc.constantFrom("v2", "v1", "pods", "one", "run", "%", "%ff", "..", "__proto__"),
);

test("every request to every path gets a response", () =>
  fc.assert(
    fc.asyncProperty(
      fc.constantFrom("GET", "POST", "PUT", "DELETE", "OPTIONS"),
      fc.array(segment, { maxLength: 4 }),
      oddText,
      async (method, path, body) => {
        const headers = { authorization: `Bearer ${emulator.apiKey}`, "content-type": "application/json" };
        const hasBody = method !== "GET";
        const url = `${emulator.url}/${path.join("/")}`;
        const { status } = await send(url, { method, headers, ...(hasBody && { body }) });
        expect(isAnswered(status)).toBe(true);
      },
    ),
    { numRuns: 150 },
  ));

test("every GraphQL document gets a response", () =>
  fc.assert(
    fc.asyncProperty(
      fc.oneof(
        oddText,
        fc
          .array(
            fc.constantFrom(
              "mutation",
              "{",
              "}",
              "(",
              ")",
              "saveEndpoint",
              "input:",
              "myself",
              '"',
              "id",
              "null",
              "...",
              "$a",
              "@skip",
              "fragment F on Mutation",
            ),
            { maxLength: 12 },
          )
          .map((words) => words.join(" ")),
      ),
      async (query) => {
        const { status, body } = await graphql(emulator, query);
        expect(isAnswered(status)).toBe(true);
        expect(typeof body).toBe("object");
      },
    ),
    { numRuns: 150 },
  ));

test("every job gets a response, regardless of its body", () =>
  fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.jsonValue(),
        fc.record({ input: fc.jsonValue(), policy: fc.jsonValue(), webhook: fc.jsonValue(), s3Config: fc.jsonValue() }),
      ),
      async (body) => {
        const headers = { authorization: `Bearer ${emulator.apiKey}`, "content-type": "application/json" };
        const { status } = await send(`${emulator.url}/v2/one/run`, {
          method: "POST",
          headers,
          body: JSON.stringify(body),
        });
        expect([200, 400]).toContain(status);
      },
    ),
    { numRuns: 60 },
  ));

test.each([
  "idleTimeout: 99999999999999999999",
  "idleTimeout: -1",
  "workersMax: 1e400",
  "workersMax: 2147483648",
  "scalerValue: NaN",
  "workersMin: [1]",
  "locations: {}",
  'networkVolumeId: ["a"]',
  'flashBootType: "FLASHBOOT"',
  "__proto__: 1",
  "constructor: 1",
])("an endpoint with %s is refused or saved, and no other endpoint is changed", async (field) => {
  const before = emulator.endpoints.get("one");
  const { status, body } = await save(emulator, `${REQUIRED}, ${field}`);
  expect(isAnswered(status)).toBe(true);
  expect(body.errors !== undefined || body.data.saveEndpoint.id !== undefined).toBe(true);
  expect(emulator.endpoints.get("one")).toEqual(before);
});

/** Nested JSON, with brackets in strings, which do not count. */
const nested = (levels: number) => `${'{"[{":'.repeat(levels)}"\\"{["${"}".repeat(levels)}`;

test.each([
  ["/v2/one/run", (json: string) => `{"input":${json}}`],
  ["/v2/one/openai/v1/chat/completions", (json: string) => json],
  ["/v2/serverless", (json: string) => `{"name":${json}}`],
  ["/graphql", (json: string) => `{"query":"{ myself { id } }","variables":${json}}`],
  ["/_emulator/pods", (json: string) => json],
])("[server.too-deep] a body with 20,000 levels is refused at %s, and the journal contains its request", async (path, body) => {
  const requests = emulator.journal.requests().length;
  const response = await send(`${emulator.url}${path}?api_key=${emulator.apiKey}`, {
    method: "POST",
    headers: { authorization: `Bearer ${emulator.apiKey}`, "content-type": "application/json" },
    body: body(nested(20_000)),
  });
  expect(response.status).toBe(400);
  expect(JSON.stringify(response.body)).toContain("request body is nested more than 1,000 levels deep");
  expect(emulator.journal.requests()).toHaveLength(path.startsWith("/_emulator") ? requests : requests + 1);
});

test.each([
  [
    "arguments",
    (levels: number) => `mutation { saveEndpoint(input: ${"[".repeat(levels)}${"]".repeat(levels)}) { id } }`,
  ],
  ["fields", (levels: number) => `${"{ a ".repeat(levels)}${"}".repeat(levels)}`],
])("[server.too-deep] a GraphQL query with %s nested 5,000 levels deep is refused", async (_, query) => {
  const { status, body } = await graphql(emulator, query(5_000));
  expect([status, body.errors[0].message]).toEqual([400, "The query is nested more than 1,000 levels deep"]);
  expect((await graphql(emulator, query(900))).status).toBe(400);
  expect(() => emulator.journal.requests()).not.toThrow();
});

describe("the templates of a seed", () => {
  test("the templates of a seed report problems that name the field", async () => {
    const template = { id: "t", name: "t", imageName: "i", containerDiskInGb: "20" };
    const starting = startEmulator({
      profile: "contract",
      seed: { templates: ["other", template as object as SeededTemplate] },
    });
    await expect(starting).rejects.toThrow(/The seed is not well formed.*at templates\[1\]\.containerDiskInGb/s);
  });

  test("the templates of a seed can define their variables as a map", async () => {
    const template = { id: "t", name: "t", imageName: "i", env: { A: "1", B: "2" } };
    await using emulator = await startEmulator({ profile: "contract", seed: { templates: [template] } });
    expect(emulator.templates.get("t")?.env).toEqual([
      { key: "A", value: "1" },
      { key: "B", value: "2" },
    ]);
  });
});
