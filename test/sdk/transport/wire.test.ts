import { Kind, parse } from "graphql";
import { createClient } from "../../../sdk/client/client";
import { CANARY } from "../../support/emulated";
import { addressesOf, startScriptedServer } from "../../support/scriptedServer";

const ENDPOINT = { id: "ep-1", name: "llama", gpuIds: "AMPERE_24", templateId: "abc123" };
const INPUT = { name: "llama", gpuIds: "AMPERE_24", templateId: "abc123" };

/** Returns no endpoints to a list, and the endpoint to every other request. */
function answerWell({ body }: { readonly body: string }) {
  if (body.includes("myself")) return { body: { data: { myself: { endpoints: [], serverlessDiscount: null } } } };
  return { body: { data: body.includes("saveEndpoint") ? { saveEndpoint: ENDPOINT } : { deleteEndpoint: null } } };
}

async function recorded(use: (client: ReturnType<typeof createClient>) => Promise<unknown>, apiKey = CANARY) {
  await using server = await startScriptedServer(answerWell);
  const client = createClient({ apiKey, ...addressesOf(server) });
  await use(client);
  await client.close();
  return server.requests;
}

/** The GraphQL text of a request, after a check that the body has nothing else. */
function queryOf(request: { readonly body: string } | undefined): string {
  const body = JSON.parse(request?.body ?? "null") as { query: string };
  expect(Object.keys(body)).toEqual(["query"]);
  return body.query;
}

const fold = (text: string) => text.replace(/\s+/g, " ");

describe("a request over GraphQL", () => {
  test("a request over GraphQL contains only {query} in its body: one unnamed operation with literals [contract.graphql-body] [contract.flash-boot-type]", async () => {
    const requests = await recorded(({ endpoints }) =>
      endpoints.create({
        ...INPUT,
        gpuIds: ["AMPERE_24", "ADA_24"],
        locations: ["US", "CZ"],
        flashBootType: "FLASHBOOT",
        scalerType: "REQUEST_COUNT",
        scalerValue: 2.5,
        workersMax: 5,
      }),
    );
    expect(requests).toHaveLength(2);
    const selection =
      "id pods { desiredStatus } name gpuIds templateId idleTimeout scalerValue workersMax workersMin locations flashBootType scalerType networkVolumeId";
    expect(fold(queryOf(requests[1]))).toBe(
      'mutation { saveEndpoint(input: {name: "llama", gpuIds: "AMPERE_24,ADA_24", templateId: "abc123", ' +
        'scalerValue: 2.5, workersMax: 5, locations: "CZ,US", flashBootType: FLASHBOOT, scalerType: "REQUEST_COUNT"}' +
        `) { ${selection} } }`,
    );
    expect(fold(queryOf(requests[0]))).toBe(`{ myself { endpoints { ${selection} } } }`);
  });

  test("the request for a new endpoint contains only the given fields", async () => {
    const requests = await recorded(({ endpoints }) => endpoints.create(INPUT));
    expect(fold(queryOf(requests[1]))).toContain('input: {name: "llama", gpuIds: "AMPERE_24", templateId: "abc123"}');
  });

  test("a request over GraphQL is a POST to /graphql that uses a plain user agent and JSON", async () => {
    const [request] = await recorded(({ endpoints }) => endpoints.list());
    expect(request).toMatchObject({ method: "POST", path: "/graphql" });
    expect(request?.headers).toMatchObject({
      "content-type": "application/json",
      accept: "application/json",
      "user-agent": expect.stringMatching(/^serverless-gpu\/[0-9]/),
    });
  });

  test("a request over GraphQL contains the key in the query of the URL and nowhere else [contract.api-key]", async () => {
    const [request] = await recorded(({ endpoints }) => endpoints.list());
    expect(request?.query).toEqual({ api_key: CANARY });
    expect(JSON.stringify([request?.headers, request?.body, request?.path])).not.toContain(CANARY);
  });

  test("a request over GraphQL sends a key with unusual characters unchanged", async () => {
    const odd = `odd&key=1+2%3#?/\\"'~`;
    const [request] = await recorded(({ endpoints }) => endpoints.list(), odd);
    expect(request?.query).toEqual({ api_key: odd });
  });

  test.each([
    'a "quoted" name',
    "two\nlines\r\n\tand a tab",
    "back\\slash \\u0041 \\",
    '"}) { id } deleteEndpoint(id: "other") #',
    "# no comment,  no   folding of,spaces",
    "日本 😀 é \u2028 \u0000",
    '"""',
  ])("a request over GraphQL sends the name %j unchanged and as one literal", async (name) => {
    const requests = await recorded(({ endpoints }) => endpoints.create({ ...INPUT, name }));
    const { definitions } = parse(queryOf(requests[1]));
    const [operation] = definitions;
    if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error("no operation");
    const [field] = operation.selectionSet.selections;
    if (field?.kind !== Kind.FIELD || field.arguments?.[0]?.value.kind !== Kind.OBJECT) throw new Error("no input");
    const [first] = field.arguments[0].value.fields;
    expect([definitions.length, operation.selectionSet.selections.length]).toEqual([1, 1]);
    expect(first?.value).toMatchObject({ kind: Kind.STRING, value: name });
  });

  test("the request to delete contains the id as a literal, and selects no fields", async () => {
    const requests = await recorded(({ endpoints }) => endpoints.delete('ep"1'));
    const mutations = requests
      .map(queryOf)
      .map(fold)
      .filter((query) => query.startsWith("mutation"));
    expect(mutations).toEqual([String.raw`mutation { deleteEndpoint(id: "ep\"1") }`]);
  });

  test("the request for the discount selects its three fields", async () => {
    const requests = await recorded(async ({ endpoints }) => {
      expect(await endpoints.getServerlessDiscount()).toBeNull();
    });
    expect(fold(queryOf(requests[0]))).toBe("{ myself { serverlessDiscount { discountFactor type expirationDate } } }");
  });
});

describe("before any request", () => {
  const unused = createClient({ apiKey: CANARY, graphqlUrl: "http://127.0.0.1:1" });

  test("an invalid new endpoint is refused with all of its problems", async () => {
    const requests = await recorded(async ({ endpoints }) => {
      const input = { name: "", gpuIds: "NONE", templateId: "t", workersMin: 9 } as never;
      await expect(endpoints.create(input)).rejects.toThrow(
        /^the new endpoint is not valid: name: .*gpuIds: .*workersMin: /,
      );
    });
    expect(requests).toEqual([]);
  });

  test("an invalid change is refused", async () => {
    const requests = await recorded(async ({ endpoints }) => {
      await expect(endpoints.update("ep-1", { idleTimeout: -1 })).rejects.toThrow(/the change of endpoint ep-1/);
      await expect(endpoints.update("ep-1", { id: "ep-2" } as never)).rejects.toThrow(/is not a property/);
    });
    expect(requests).toEqual([]);
  });

  test("a missing URL is reported when its interface is first used", async () => {
    await expect(unused.pods.get("pod-1")).rejects.toThrow(/there is no restUrl.*SERVERLESS_GPU_REST_URL/);
    expect(() => createClient({ apiKey: "" })).toThrow(/there is no API key/);
    expect(() => createClient({ apiKey: CANARY, service: "aws" as never })).toThrow(/"aws" is unknown/);
  });

  afterAll(() => unused.close());
});
