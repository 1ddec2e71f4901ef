import { type Emulator, type FaultEffect, startEmulator } from "../../../emulator";
import { type Client, type ClientOptions, createClient } from "../../../sdk";

const INPUT = { name: "llama", gpuIds: "ADA_24", templateId: "template", workersMax: 1 };

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ profile: "observed", drainMs: 0 });
  emulator.templates.create({ id: "template", name: "template", imageName: "me/llama:1", isServerless: true });
});
afterEach(() => emulator.stop());

const warnings: string[] = [];
beforeEach(() => void warnings.splice(0));

function clientOf(options: ClientOptions = {}): Client {
  const { apiKey, url } = emulator;
  const retry = { maxAttempts: 1 };
  const onWarning = ({ message }: { readonly message: string }) => warnings.push(message);
  return createClient({ apiKey, graphqlUrl: url, restUrl: url, queueUrl: url, retry, onWarning, ...options });
}

const end = (effect: FaultEffect) => void emulator.faults.add({ match: { interface: "graphql" }, effect });
const requestsTo = (api: "graphql" | "v2") => emulator.journal.requests({ interface: api });

test("a client without the option api uses GraphQL, and asks nothing more, while the service serves it", async () => {
  await using client = clientOf();
  await client.endpoints.list();
  expect(emulator.journal.operations()).toEqual(["myself"]);
  expect(warnings).toEqual([]);
});

test("a client without the option api uses REST v2 once GraphQL answers with 410, and says so once", async () => {
  end({ status: 410 });
  await using client = clientOf();
  const [{ id }] = await Promise.all([client.endpoints.create(INPUT), client.templates.list()]);
  expect(emulator.endpoints.list()).toMatchObject([{ id, workersMax: 1 }]);
  const { data, response } = await client.endpoints.update(id, { workersMax: 2 }).withResponse();
  expect([data.workersMax, response.status]).toEqual([2, 200]);
  await client.endpoints.delete(id, { drain: false });
  expect(emulator.endpoints.list()).toEqual([]);
  expect(warnings).toEqual([
    expect.stringMatching(/410.*REST v2.*60 requests a minute, not 180.*SERVERLESS_GPU_API=v2/),
  ]);
  const asked = requestsTo("graphql").length;
  await client.volumes.list();
  expect(requestsTo("graphql")).toHaveLength(asked);
});

test("the response that withResponse returns is the one over REST v2", async () => {
  end({ status: 410 });
  await using client = clientOf();
  const { data, response } = await client.templates.list().withResponse();
  expect(data).toMatchObject([{ id: "template" }]);
  expect(response.status).toBe(200);
});

test.each([404, 405, 301, 401, 403, 429, 503])("a client never switches because of status %d", async (status) => {
  end({ status });
  await using client = clientOf();
  await expect(client.endpoints.list()).rejects.toMatchObject({ status });
  expect(requestsTo("v2")).toEqual([]);
});

test.each(["graphql", "v2"] as const)("the option api: %s stays as it is", async (api) => {
  end({ status: 410 });
  await using client = clientOf({ api });
  const list = client.endpoints.list().then(
    () => "listed",
    (error: Error) => error.message,
  );
  expect(await list).toMatch(api === "v2" ? "listed" : "Switch to REST v2");
  expect(requestsTo(api === "v2" ? "graphql" : "v2")).toEqual([]);
});

test("a client that GraphQL has served does not switch, so that a write does not end over another API", async () => {
  await using client = clientOf();
  const { id } = await client.endpoints.create(INPUT);
  end({ status: 410 });
  await expect(client.endpoints.update(id, { workersMax: 2 })).rejects.toMatchObject({ status: 410 });
  expect(emulator.endpoints.get(id)).toMatchObject({ workersMax: 1 });
  expect(requestsTo("v2")).toEqual([]);
});
