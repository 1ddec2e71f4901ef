import { createClient } from "../../../sdk";
import { addressesOf, startScriptedServer } from "../../support/scriptedServer";

/** The ways in which gateways, proxies and other servers refuse requests. */
const GATEWAYS: readonly (readonly [title: string, status: number, body: unknown])[] = [
  ["an unknown gateway's JSON", 403, { error: "blocked" }],
  [
    "Cloudflare's problem details",
    403,
    {
      type: "https://developers.cloudflare.com/support/",
      title: "Error 1010: Access denied",
      status: 403,
      detail: "The site owner has blocked access",
      instance: "9a3f",
      error_code: 1010,
      cloudflare_error: true,
    },
  ],
  [
    "Akamai's problem details",
    403,
    { type: "/errors/forbidden", title: "Forbidden", status: 403, detail: "denied by rule", instance: "0.1a2b" },
  ],
  ["AWS WAF's JSON", 403, { message: "Forbidden" }],
  ["a problem with the status of another response", 403, { title: "Forbidden", status: 406, detail: "no" }],
  ["a proxy that asks for its own login", 401, { message: "Unauthorized" }],
  [
    "an API gateway's GraphQL error",
    401,
    { errors: [{ message: "You are not authorized", errorType: "Unauthorized" }] },
  ],
  ["an empty body", 403, ""],
  ["a number", 403, "7"],
  ["null", 403, "null"],
  ["broken JSON", 403, '{"title":"Forbidden","status":403,'],
];

async function explained(api: "v2" | "graphql", status: number, bodies: { v2: unknown; graphql: unknown }) {
  await using server = await startScriptedServer(({ path }) => ({
    status,
    body: path.endsWith("/graphql") ? bodies.graphql : bodies.v2,
  }));
  const client = createClient({ apiKey: "key", service: "runpod", api, ...addressesOf(server) });
  const { causes, certainty } = await client.endpoints.diagnose("abcdefgh1234");
  await client.close();
  return { certainty, ids: causes.map(({ id }) => id) };
}

describe.each(["graphql", "v2"] as const)("over %s", (api) => {
  test.each(GATEWAYS)("a rejection by %s does not prove that the key is wrong", async (_, status, body) => {
    const { ids, certainty } = await explained(api, status, { v2: body, graphql: body });
    expect([ids, certainty]).toEqual([["no-access"], "possible"]);
  });

  test.each([
    "an unknown server's JSON",
    "a web framework's JSON",
  ])("a 404 with %s does not prove that the endpoint is gone", async (server) => {
    const body = server.startsWith("an") ? { message: "no Route matched with those values" } : { detail: "Not Found" };
    const { ids } = await explained(api, 404, { v2: body, graphql: body });
    expect(ids).toEqual(["unknown"]);
  });

  test("a rejection by the service itself is certain", async () => {
    const own = {
      v2: { title: "Unauthorized", status: 401, detail: "invalid bearer token" },
      graphql: { errors: [{ message: "Unauthorized" }] },
    };
    expect(await explained(api, 401, own)).toEqual({ ids: ["no-access"], certainty: "certain" });
  });
});
