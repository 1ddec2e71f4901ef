import { InvalidInputError, UnexpectedResponseError } from "../../../sdk/errors/errors";
import { type Emulated, startEmulated } from "../../support/emulated";

const GOOD = { name: "llama", gpuIds: "ADA_24", templateId: "t", workersMax: 0, scalerValue: 7 };

/** Starts a service with an endpoint whose delay GraphQL cannot return, and three others. */
async function start(api?: "graphql" | "v2"): Promise<Emulated> {
  const site = await startEmulated({
    emulator: { profile: "observed" },
    client: { service: "runpod", ...(api && { api }) },
  });
  for (const id of ["a", "b", "c"]) site.emulator.endpoints.create({ ...GOOD, id });
  site.emulator.endpoints.change("b", { scalerValue: 0.5, name: "broken" });
  return site;
}

const isRead = (operation: string) => operation === "myself";

test("an endpoint with a broken field does not hide the others: they are read by their ids, without a retry", async () => {
  await using site = await start();
  const { endpoints } = site.client;
  const { records, unreadable } = await site.run(endpoints.listReadable());
  expect(records.map(({ id, scalerValue }) => [id, scalerValue])).toEqual([
    ["a", 7],
    ["c", 7],
  ]);
  expect(unreadable).toEqual([
    {
      id: "b",
      name: "broken",
      problem: expect.stringContaining("the service cannot return its field scalerValue over GraphQL"),
    },
  ]);
  // The list, the list of names, and all endpoints by their ids.
  expect(site.calls().filter(isRead)).toHaveLength(3);
  expect(await site.run(endpoints.update("a", { workersMax: 2 }))).toMatchObject({ id: "a", workersMax: 2 });
  await site.run(endpoints.delete("c"));
  expect(site.emulator.endpoints.list().map(({ id }) => id)).toEqual(["a", "b"]);
});

test("a call for the endpoint with the broken field names the endpoint and the field", async () => {
  await using site = await start();
  const { endpoints } = site.client;
  for (const call of [endpoints.get("b"), endpoints.update("b", { workersMax: 2 }), endpoints.delete("b")]) {
    const failure = await site.failure(call);
    expect(failure).toBeInstanceOf(UnexpectedResponseError);
    expect(failure.message).toMatch(/endpoint b exists, but its record cannot be read.*field scalerValue/);
    expect(failure.message).toContain("SERVERLESS_GPU_API=v2");
  }
  expect(site.emulator.endpoints.get("b")).toMatchObject({ workersMax: 0, scalerValue: 0.5 });
});

test("a fractional delay is refused over GraphQL at RunPod before anything is sent, and saved over REST v2", async () => {
  const change = { scalerType: "QUEUE_DELAY", scalerValue: 0.5 } as const;
  await using overGraphql = await start("graphql");
  const failure = await overGraphql.failure(overGraphql.client.endpoints.update("a", change));
  expect(failure).toBeInstanceOf(InvalidInputError);
  expect(failure.message).toContain("must be a whole number over GraphQL at this service; it is 0.5. REST v2");
  expect(overGraphql.calls()).toEqual([]);
  await using overV2 = await start("v2");
  await overV2.run(overV2.client.endpoints.update("a", change));
  expect(overV2.emulator.endpoints.get("a")).toMatchObject({ scalerValue: 0.5 });
});
