import type { Shape } from "../../../emulator/model/shapes";
import { type OperationFacts, REST_V2 } from "../../../emulator/restV2/facts";
import { differences } from "../../../tools/checkSpec.js";

const FACTS: Readonly<Record<string, OperationFacts>> = REST_V2;

/**
 * Returns an OpenAPI document of our own facts, with references and merged parts as the service's
 * has.
 */
function documentOf(facts: typeof FACTS) {
  const schemas: Record<string, unknown> = {};
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [name, { method, path, status, body, list, reads = [], query = [] }] of Object.entries(facts)) {
    const record = { type: "object", properties: Object.fromEntries(reads.map((field) => [field, {}])) };
    schemas[`${name}Record`] = record;
    if (body) schemas[`${name}Request`] = { allOf: [{ type: "object", properties: {} }, schemaOf(body)] };
    const shown = { $ref: `#/components/schemas/${name}Record` };
    const schema = list ? { type: "object", properties: { [list]: { type: "array", items: shown } } } : shown;
    const item = paths[`/v2${path.replace("{id}", "{anyId}")}`] ?? {};
    paths[`/v2${path.replace("{id}", "{anyId}")}`] = item;
    item[method.toLowerCase()] = {
      parameters: query.map((parameter) => ({ name: parameter, in: "query" })),
      responses: { [status]: { content: { "application/json": { schema } } } },
      ...(body && {
        requestBody: { content: { "application/json": { schema: { $ref: `#/components/schemas/${name}Request` } } } },
      }),
    };
  }
  return { paths, components: { schemas } };
}

function schemaOf({ nullable, items, properties, values: _, oneOf, type, ...others }: Shape): object {
  return {
    ...others,
    ...(type && { type: nullable ? [type, "null"] : type }),
    ...(items && { items: schemaOf(items) }),
    ...(oneOf && { oneOf: oneOf.map(schemaOf) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, schemaOf(each)])),
    }),
  };
}

test("documents that state the same facts have no differences", () => {
  expect(differences(FACTS, documentOf(FACTS))).toEqual([]);
});

test("every kind of difference is reported", () => {
  const document = documentOf(FACTS);
  const text = JSON.stringify(document)
    .replaceAll('"maximum":3600', '"maximum":1800')
    .replaceAll('"FLASHBOOT",', "")
    .replaceAll('"/v2/registries"', '"/v2/credentials"')
    .replaceAll('["name","image"]', '["name"]')
    .replaceAll('"dataCenterIds":{}', '"places":{}')
    .replaceAll('{"name":"cursor","in":"query"}', '{"name":"after","in":"query"}');
  const found = differences(FACTS, JSON.parse(text));
  expect(found).toEqual(
    expect.arrayContaining([
      "createEndpoint (POST /serverless): body.workers.idleTimeout: maximum is 3600 here, 1800 in the document",
      expect.stringMatching(
        /^updateEndpoint .*: body\.flashboot: the words is FLASHBOOT, OFF, PRIORITY_FLASHBOOT here/,
      ),
      "listRegistries (GET /registries): not in the document",
      "createTemplate (POST /templates): body: required is image, name here, name in the document",
      "listEndpoints (GET /serverless): the response's endpoints[].dataCenterIds is not in the document",
      "listEndpoints (GET /serverless): the query parameter cursor is not in the document",
    ]),
  );
});

test("parameters may be references to a parameter that is or is not required", () => {
  for (const required of [true, false]) {
    const parameters = [{ $ref: "#/components/parameters/Cursor" }];
    const responses = { 200: { content: { "application/json": { schema: { type: "object" } } } } };
    const document = {
      paths: { "/serverless": { get: { parameters, responses } } },
      components: { parameters: { Cursor: { name: "cursor", in: "query", required } } },
    };
    const facts = { list: { method: "GET", path: "/serverless", status: 200, query: ["cursor", "limit"] } } as const;
    expect(differences(facts, document)).toEqual([
      "list (GET /serverless): the query parameter limit is not in the document",
    ]);
  }
});
