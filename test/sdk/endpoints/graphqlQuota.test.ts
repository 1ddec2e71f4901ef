import { startEmulated } from "../../support/emulated";

const LANES = 20;
const MINUTE_MS = 60_000;

/** Creates templates, several at once, at the named service `runpod`. */
async function createdTemplates(count: number, perMinute: number) {
  await using site = await startEmulated({
    client: { service: "runpod" },
    emulator: { profile: "observed", rateLimits: { graphql: { perMinute } } },
  });
  const { client, emulator, run, clock } = site;
  const startedAt = clock.monotonic();
  const lanes = Array.from({ length: LANES }, async (_, lane) => {
    for (let i = lane; i < count; i += LANES) await client.templates.create({ name: `t${i}`, imageName: "me/t:1" });
  });
  await run(Promise.all(lanes));
  const requests = emulator.journal.requests();
  return {
    made: emulator.templates.list().length,
    refused: requests.filter(({ status }) => status === 429).length,
    minutes: (clock.monotonic() - startedAt) / MINUTE_MS,
  };
}

describe("the announced quota of GraphQL", () => {
  test("the announced quota of GraphQL may be exceeded until one request is refused, and is respected afterwards", async () => {
    const { made, refused, minutes } = await createdTemplates(260, 180);
    expect(made).toBe(260);
    expect(refused).toBe(1);
    expect(minutes).toBeGreaterThanOrEqual(1);
    expect(minutes).toBeLessThan(3);
  });

  test("the announced quota of GraphQL does not slow down an account with a larger quota", async () => {
    const { made, refused, minutes } = await createdTemplates(200, 10_000);
    expect({ made, refused }).toEqual({ made: 200, refused: 0 });
    expect(minutes).toBeLessThan(1);
  });

  test("the announced quota of GraphQL counts every request of a change that needs several requests", async () => {
    await using site = await startEmulated({
      client: { service: "runpod" },
      emulator: { profile: "observed", rateLimits: { graphql: { perMinute: 180 } } },
    });
    const { client, emulator, run, clock } = site;
    const { id } = await run(
      client.endpoints.create({ name: "e", imageName: "me/e:1", gpuIds: "ADA_24", workersMax: 1 }),
    );
    await clock.advance(MINUTE_MS);
    for (let number = 2; number < 152; number++)
      await run(client.endpoints.update(id, { imageName: `me/e:${number}` }));
    const requests = emulator.journal.requests();
    expect(requests.length).toBeGreaterThan(400);
    expect(requests.filter(({ status }) => status === 429).length).toBeLessThanOrEqual(1);
  });
});
