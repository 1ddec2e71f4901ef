import { type EmulatedOptions, startEmulated } from "../../support/emulated";

const TEMPLATES = [{ id: "tpl1", name: "one", imageName: "me/one:1" }];

function start(perMinute: number, emulator: EmulatedOptions["emulator"] = {}) {
  const limits = { rateLimits: { management: { perMinute, perHour: 30_000 } }, seed: { templates: TEMPLATES } };
  return startEmulated({ client: { api: "v2" }, emulator: { ...limits, ...emulator } });
}

const endpoints = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    id: `e${i}`,
    name: `e${i}`,
    gpuIds: "ADA_24",
    templateId: "tpl1",
    workersMin: 1,
    workersMax: 1,
  }));

test("calls wait for the limit as long as necessary, even if another program uses most of it", async () => {
  await using site = await start(20);
  const { client, emulator, run, clock } = site;
  const headers = { authorization: `Bearer ${emulator.apiKey}` };
  let isOver = false;
  const neighbours = async () => {
    while (!isOver) {
      await Promise.allSettled(Array.from({ length: 15 }, () => fetch(`${emulator.url}/v2/templates`, { headers })));
      await new Promise<void>((resolve) => clock.schedule(60_000, resolve));
    }
  };
  const other = neighbours();
  const startedAt = clock.monotonic();
  const creates = Array.from({ length: 60 }, (_, i) => client.templates.create({ name: `t${i}`, imageName: "me/t:1" }));
  await run(Promise.all(creates));
  isOver = true;
  await clock.advance(61_000);
  await other;
  expect(emulator.templates.list()).toHaveLength(61);
  expect(clock.monotonic() - startedAt).toBeGreaterThan(5 * 60_000);
});

test("the drain time starts when the endpoint is scaled to zero, regardless of how long the limit delayed it", async () => {
  await using site = await start(6, { drainMs: 200_000, coldStartMs: 0 });
  const { client, emulator, run, clock } = site;
  emulator.seed({ endpoints: endpoints(20) });
  const startedAt = clock.monotonic();
  await run(Promise.all(endpoints(20).map(({ id }) => client.endpoints.delete(id, { drainTimeoutMs: 300_000 }))));
  expect(emulator.endpoints.list()).toEqual([]);
  expect(clock.monotonic() - startedAt).toBeGreaterThan(300_000);
});
