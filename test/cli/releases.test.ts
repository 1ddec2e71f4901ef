import { startEmulator } from "../../emulator";
import { createClient } from "../../sdk";
import { ended, start } from "./command";

const TOKEN = "env-canary-history-41d0";

test("history lists what each release changed, and rollback says how to take it back, without a value of a variable", async () => {
  await using emulator = await startEmulator({ profile: "observed", drainMs: 0 });
  const client = createClient({ apiKey: emulator.apiKey, graphqlUrl: emulator.url, queueUrl: emulator.url, api: "v2" });
  const { id } = await client.endpoints.create({
    ...{ name: "llama", gpuIds: "ADA_24", imageName: "me/llama:1", env: { HF_TOKEN: "first", OLD: "1" } },
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
    ...{ imageName: "me/llama:1", containerDiskInGb: 20, workersMax: 2, env: { HF_TOKEN: "first", OLD: "1" } },
  });
  expect((await run("rollback", id, "--to", first)).stdout).toContain("already has the settings");
  const unknown = await run("rollback", id, "--to", "no-such-release");
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("has no release no-such-release")]);
  for (const { stdout, stderr } of [listed, dry, done]) expect(stdout + stderr).not.toContain(TOKEN);
  const overGraphql = await run("history", id, "--api", "graphql");
  const advice = `only REST v2 shows releases. Run: serverless-gpu history ${id} --api v2`;
  expect([overGraphql.code, overGraphql.stderr]).toEqual([1, expect.stringContaining(advice)]);
  await client.close();
}, 120_000);
