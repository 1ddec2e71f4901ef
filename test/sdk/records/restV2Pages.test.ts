import { createClient } from "../../../sdk";
import { type Emulated, startEmulated } from "../../support/emulated";

let site: Emulated;
beforeEach(async () => {
  site = await startEmulated({ client: { api: "v2" } });
});
afterEach(() => site[Symbol.asyncDispose]());

const record = (id: string, name = id) => ({ id, name, size: 10, dataCenter: "EU-RO-1", type: "STANDARD" });

/** Lets the list of volumes respond with these pages, in turn. */
function respond(...pages: readonly { readonly volumes: readonly object[]; readonly pagination: object }[]): void {
  for (const { volumes, pagination } of pages) {
    const effect = { status: 200, body: { networkVolumes: volumes, pagination } };
    site.emulator.faults.add({ match: { operation: "listNetworkVolumes" }, effect, times: 1 });
  }
}

const next = (nextCursor: string) => ({ nextCursor, hasNextPage: true });
const end = { nextCursor: null, hasNextPage: false };

test("a record that appears on two pages counts once, in its later state", async () => {
  respond(
    { volumes: [record("a"), record("b")], pagination: next("1") },
    { volumes: [record("b", "new")], pagination: end },
  );
  const { client, run } = site;
  expect((await run(client.volumes.list())).map(({ id, name }) => `${id} ${name}`)).toEqual(["a a", "b new"]);
});

test.each([
  ["without a cursor", [{ nextCursor: null, hasNextPage: true }], "shows a next page, but no cursor for it"],
  ["whose cursor is empty", [{ nextCursor: "", hasNextPage: true }], "shows a next page, but no cursor for it"],
  ["that is the same again", [next("1"), next("1")], "the list has no last page"],
])("a next page %s fails the list, because a record missing from that page would count as deleted", async (_, paginations, message) => {
  respond(...paginations.map((pagination, index) => ({ volumes: [record(`v${index}`)], pagination })));
  const error = await site.failure(site.client.volumes.list());
  expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE" });
  expect(error.message).toContain(message);
});

test("a list without page information is treated as complete", async () => {
  respond({ volumes: [record("a")], pagination: {} });
  expect(await site.run(site.client.volumes.list())).toHaveLength(1);
});

test("a list is restarted if the next page is refused because the record at its cursor no longer exists", async () => {
  const { emulator } = site;
  emulator.seed({
    endpoints: Array.from({ length: 1500 }, (_, i) => ({
      id: `e${i}`,
      name: `e${i}`,
      gpuIds: "ADA_24",
      templateId: "t",
    })),
  });
  await using client = createClient({
    apiKey: emulator.apiKey,
    graphqlUrl: emulator.url,
    api: "v2",
    onRequest: () => emulator.endpoints.delete("e500"),
  });
  expect(await client.endpoints.list()).toHaveLength(1499);
  expect(emulator.journal.requests().map(({ status }) => status)).toEqual([200, 422, 200, 200]);
});

test("a page that is always refused causes an error that quotes the service", async () => {
  for (let i = 0; i < 3; i++) {
    respond({ volumes: [record("a")], pagination: next("1") });
    const body = { title: "Unprocessable Entity", status: 422, detail: "invalid cursor" };
    site.emulator.faults.add({ match: { operation: "listNetworkVolumes" }, effect: { status: 422, body }, times: 1 });
  }
  expect((await site.failure(site.client.volumes.list())).message).toContain('the service says "invalid cursor"');
  expect(site.calls()).toHaveLength(6);
});
