import type { Reply, Site } from "../site";
import { saveOwn } from "./saveEndpoint";
import { outcomeOf, type Scenario, UNKNOWN_ID } from "./scenario";

const LIST = "query { myself { endpoints { id } } }";

const listed = ({ status, body }: Reply) => ({ status, isList: Array.isArray(body?.data?.myself?.endpoints) });

export const graphqlKeys: Scenario = {
  name: "keys of GraphQL",
  async play(site) {
    site.note("graphql.key-in-query", listed(await site.graphql(LIST)));
    const wrong = await site.graphql(LIST, { key: "wrong" });
    site.note("graphql.wrong-key", wrong.status);
    site.note("graphql.unauthorized-body", wrong.body);
    const none = await site.graphql(LIST, { key: "none" });
    site.note(
      { contract: "graphql.no-key", observed: "graphql.no-key-observed" },
      { status: none.status, body: none.body },
    );
    const bearer = await site.graphql(LIST, { key: "bearer" });
    site.note({ contract: "graphql.bearer-refused", observed: "graphql.bearer" }, listed(bearer));
    const mutation = await site.graphql(deletion(UNKNOWN_ID), { key: "none" });
    const message = mutation.body?.errors?.[0]?.message ?? null;
    site.note({ observed: "graphql.no-key-mutation" }, { status: mutation.status, message });
  },
};

export const graphqlForms: Scenario = {
  name: "forms of GraphQL",
  async play(site) {
    site.note("graphql.post-only", (await site.graphql("", { method: "GET" })).status);
    site.note("graphql.malformed", (await site.graphql("", { body: "{" })).status);
    site.note("graphql.validation", outcomeOf(await site.graphql("query { myself { noSuchField } }")));
    const two = "query A { myself { endpoints { id } } } query B { myself { __typename } }";
    site.note("graphql.variables", listed(await site.graphql(two, { operationName: "A" })));
    site.note("server.unknown-path", (await site.elsewhere("/verify-service-no-such-path")).status);
  },
};

export const account: Scenario = {
  name: "the account",
  async play(site) {
    const discount = await site.graphql(
      "query { myself { serverlessDiscount { discountFactor type expirationDate } } }",
    );
    const found = discount.body?.data?.myself?.serverlessDiscount;
    site.note("myself.discount", { status: discount.status, isNullOrObject: typeof found === "object" });
    const { id } = site.endpoint;
    const own = async (fields: string) => {
      const { status, body } = await site.graphql(`query { myself { endpoints { id ${fields} } } }`);
      const list: { id: string; pods?: unknown; version?: unknown }[] = body?.data?.myself?.endpoints ?? [];
      return { status, endpoint: list.find((each) => each.id === id) };
    };
    const plain = await own("name pods { desiredStatus }");
    site.note("myself.endpoints", { status: plain.status, isListed: plain.endpoint !== undefined });
    site.note("myself.pods", { pods: plain.endpoint?.pods });
    const versioned = await own("version");
    site.note({ observed: "myself.version" }, { status: versioned.status, type: typeof versioned.endpoint?.version });
    site.note({ observed: "myself.pod-ids" }, { status: (await own("pods { id }")).status });
  },
};

export const unknownDeletion: Scenario = {
  name: "the deletion of an unknown endpoint",
  async play(site) {
    const reply = await site.graphql(deletion(UNKNOWN_ID));
    const message: string = reply.body?.errors?.[0]?.message ?? "";
    site.note("delete.unknown-id", { status: reply.status, saysNotFound: message.includes("not found") });
  },
};

/** The end of the endpoint: it has no worker, so it can be deleted at once. */
export const ownDeletion: Scenario = {
  name: "the deletion",
  async play(site) {
    await saveOwn(site);
    site.note("delete.done", await deletionOf(site));
  },
};

/** Returns the outcome of a deletion of the own endpoint. */
export async function deletionOf(site: Site): Promise<object> {
  const { status, body } = await site.graphql(deletion(site.endpoint.id));
  return { status, data: body?.data ?? null, refused: body?.errors !== undefined };
}

function deletion(id: string): string {
  return `mutation { deleteEndpoint(id: ${JSON.stringify(id)}) }`;
}
