import { startEmulator } from "../../emulator";
import { createClient } from "../../sdk";
import { ended, start } from "./command";

const TOKEN = "env-canary-history-41d0";

test("history lists what each release changed, and rollback explains how to undo it, without the values of variables", async () => {
  await using emulator = await startEmulator({ profile: "observed", drainMs: 0 });
  const client = createClient({ apiKey: emulator.apiKey, graphqlUrl: emulator.url, queueUrl: emulator.url, api: "v2" });
  const { id } = await client.endpoints.create({
    name: "llama",
    gpuIds: "ADA_24",
    imageName: "me/llama:1",
    env: { HF_TOKEN: "first", OLD: "1" },
  });
  await client.endpoints.update(id, { imageName: "me/llama:2", env: { HF_TOKEN: TOKEN, OLD: null, NEW: "2" } });
  await client.endpoints.update(id, { workersMax: 2 });
  await client.endpoints.update(id, { containerDiskInGb: 40 });
  process.env = { ...process.env, ...emulator.env };
  process.env.SERVERLESS_GPU_API = "v2";
  const run = (...args: string[]) => ended(start(...args));

  const listed = await run("history", "llama");
  expect(listed).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^REST v2 \(SERVERLESS_GPU_API\) at [^\n]+\n$/),
  });
  const lines = listed.stdout.trim().split("\n");
  expect(lines.map((line) => line.split("  ").at(-1))).toEqual([
    "containerDiskInGb",
    "env, imageName",
    "first release",
  ]);
  const { releases } = JSON.parse((await run("history", id, "--json")).stdout);
  const first = releases.at(-1).release;

  const dry = await run("rollback", "llama", "--to", first);
  expect(dry.code).toBe(0);
  expect(dry.stdout).toContain('imageName: "me/llama:1",');
  expect(dry.stdout).toContain("containerDiskInGb: 20,");
  expect(dry.stdout).toContain("env: without NEW");
  expect(dry.stderr).toContain("Nothing was changed");
  expect(await client.endpoints.get(id)).toMatchObject({ imageName: "me/llama:2" });

  const done = await run("rollback", "llama", "--to", first, "--yes");
  expect(done.code).toBe(0);
  expect(await client.endpoints.get(id)).toMatchObject({
    imageName: "me/llama:1",
    containerDiskInGb: 20,
    workersMax: 2,
    env: { HF_TOKEN: "first", OLD: "1" },
  });
  expect((await run("rollback", id, "--to", first)).stdout).toContain("already has the settings");
  const unknown = await run("rollback", id, "--to", "no-such-release");
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("has no release no-such-release")]);
  for (const { stdout, stderr } of [listed, dry, done]) expect(stdout + stderr).not.toContain(TOKEN);
  const overGraphql = await run("history", id, "--api", "graphql");
  const advice = `only REST v2 shows releases. Run: npx pulumi-serverless-gpu history ${id} --api v2`;
  expect([overGraphql.code, overGraphql.stderr]).toEqual([1, expect.stringContaining(advice)]);
  await client.close();
}, 120_000);

describe("many releases", () => {
  async function startWith(count: number) {
    const emulator = await startEmulator({ profile: "observed", drainMs: 0, rateLimits: { management: "off" } });
    const client = createClient({
      apiKey: emulator.apiKey,
      graphqlUrl: emulator.url,
      queueUrl: emulator.url,
      api: "v2",
    });
    const { id } = await client.endpoints.create({ name: "llama", gpuIds: "ADA_24", imageName: "me/llama:1" });
    const headers = { authorization: `Bearer ${emulator.apiKey}`, "content-type": "application/json" };
    for (let n = 2; n <= count; n++) {
      const body = JSON.stringify({ image: `me/llama:${n}` });
      await fetch(`${emulator.url}/v2/serverless/${id}`, { method: "PATCH", headers, body });
    }
    process.env = { ...process.env, ...emulator.env, SERVERLESS_GPU_API: "v2" };
    const end = async () => {
      await client.close();
      await emulator.stop();
    };
    return { emulator, client, id, [Symbol.asyncDispose]: end };
  }

  test("many releases are read page by page, and rollback finds an old release", async () => {
    await using account = await startWith(240);
    const { client, id, emulator } = account;
    const releases = (await client.endpoints.releases(id, { limit: 1_000 })) ?? [];
    expect(releases.map(({ version }) => version)).toEqual(Array.from({ length: 240 }, (_, n) => 239 - n));
    expect(emulator.journal.operations({ operation: "listReleases" })).toHaveLength(3);
    expect(await client.endpoints.releases(id, { limit: 130 })).toHaveLength(130);
    const found = await ended(start("rollback", id, "--to", "5"));
    expect([found.code, found.stderr]).toEqual([0, expect.stringContaining("Nothing was changed")]);
    expect(found.stdout).toContain('imageName: "me/llama:6",');
  }, 120_000);

  test("many releases are listed with a note if the service does not return one of them, and rollback does not go back past it", async () => {
    await using account = await startWith(4);
    const { client, id, emulator } = account;
    const all = (await client.endpoints.releases(id)) ?? [];
    const releases = all
      .filter(({ version }) => version !== 2)
      .map(({ changes, ...release }) => ({ ...release, diff: changes }));
    emulator.faults.add({ match: { operation: "listReleases" }, effect: { status: 200, body: { releases } } });
    const listed = await ended(start("history", id));
    expect(listed.stderr).toContain("The service does not show release 2.");
    const refused = await ended(start("rollback", id, "--to", "1", "--yes"));
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining(
        "the service does not show release 2, so the settings of release 1 are not known: nothing was changed",
      ),
    ]);
    expect((await ended(start("rollback", id, "--to", "3"))).code).toBe(0);
  }, 120_000);

  test("many releases are not reported as rolled back while the service still uses the other settings", async () => {
    await using account = await startWith(3);
    const { client, id, emulator } = account;
    const headers = { authorization: `Bearer ${emulator.apiKey}` };
    const body = await (await fetch(`${emulator.url}/v2/serverless/${id}`, { headers })).json();
    emulator.faults.add({ match: { operation: "updateEndpoint" }, effect: { status: 200, body } });
    const done = await ended(start("rollback", id, "--to", "1", "--yes"));
    expect([done.code, done.stderr]).toEqual([1, expect.stringContaining("imageName still differs from release 1")]);
    expect(await client.endpoints.get(id)).toMatchObject({ imageName: "me/llama:3" });
  }, 120_000);
});
