import { startEmulated } from "../../support/emulated";
import { handlers, MINUTE, PLAYS, SETTINGS } from "./plays";

test.each(PLAYS)("the advice on $cause works", async ({ cause, says, settings, takesMs = MINUTE, ...play }) => {
  await using emulated = await startEmulated({
    emulator: { profile: "observed", handlers, rateLimits: { management: "off", graphql: "off" }, ...play.emulator },
    client: { api: "v2", service: "runpod" },
  });
  const { client, run, clock, emulator } = emulated;
  await play.prepare?.(emulated);
  const { id } = await run(client.endpoints.create({ ...SETTINGS, ...settings }));
  const { id: job } = await run(client.endpoint(id).run({ input: { prompt: "2 + 2" } }));
  await play.provoke?.(emulated, id);
  await clock.advance(MINUTE);
  const before = await run(client.endpoints.diagnose(id, { logs: true }));
  expect(before.causes.map((each) => each.id)).toContain(cause);
  expect(before.causes.find((each) => each.id === cause)?.advice).toMatch(says);

  await play.follow(emulated, id);
  await clock.advance(takesMs);
  const { status } = await run(client.endpoint(id).status(job));
  const after = await run(client.endpoints.diagnose(id, { logs: true }));
  expect([status, after.causes.map((each) => each.id)]).toEqual(["COMPLETED", expect.not.arrayContaining([cause])]);
  expect(emulator.endpoints.get(id)?.workersMax).toBeGreaterThan(0);
}, 60_000);
