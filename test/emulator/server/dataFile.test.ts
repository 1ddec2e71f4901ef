import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { type Emulator, type EmulatorOptions, manualClock, startEmulator } from "../../../emulator";
import { createEndpoint, getPod, graphql, mutate, REQUIRED, save, send } from "../../support/plainClient";

let folder: string;
let dataFile: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "emulator-data-"));
  dataFile = path.join(folder, "state.json");
});
afterEach(() => rmSync(folder, { recursive: true }));

const authorized = ({ apiKey }: Pick<Emulator, "apiKey">) => ({ authorization: `Bearer ${apiKey}` });

function run(emulator: Pick<Emulator, "url" | "apiKey">, endpointId: string, input: unknown) {
  return send(`${emulator.url}/v2/${endpointId}/run`, {
    method: "POST",
    headers: { ...authorized(emulator), "content-type": "application/json" },
    body: JSON.stringify({ input }),
  });
}

const statusOf = (emulator: Pick<Emulator, "url" | "apiKey">, endpointId: string, jobId: string) =>
  send(`${emulator.url}/v2/${endpointId}/status/${jobId}`, { headers: authorized(emulator) });

describe("a data file", () => {
  test("a data file keeps endpoints, jobs, pods and templates across a restart", async () => {
    const first = await startEmulator({ profile: "contract", dataFile, templates: ["template-1"], coldStartMs: 0 });
    const id = await createEndpoint(first, 'locations: "CZ", workersMin: 1');
    first.pods.add({ id: "pod-1", name: "trainer" });
    const jobId = (await run(first, id, { prompt: "hello" })).body.id;
    while ((await statusOf(first, id, jobId)).body.status !== "COMPLETED");
    const before = first.endpoints.get(id);
    await first.stop();

    await using second = await startEmulator({ profile: "contract", dataFile });
    expect(second.endpoints.get(id)).toEqual({ ...before, pods: [expect.objectContaining({ endpointId: id })] });
    expect((await getPod(second, "pod-1")).body.name).toBe("trainer");
    expect((await statusOf(second, id, jobId)).body).toMatchObject({
      status: "COMPLETED",
      output: { prompt: "hello" },
    });
    expect((await save(second, 'name: "x", gpuIds: "ADA_24", templateId: "other"')).body.errors).toHaveLength(1);
  });

  test("a data file keeps templates, volumes and credentials with their rules, but no password", async () => {
    const clock = manualClock();
    const first = await startEmulator({ dataFile, clock, profile: "observed" });
    first.seed({
      templates: [{ id: "t", name: "app", imageName: "app:1", env: [{ key: "A", value: "1" }] }],
      volumes: [{ id: "v", size: 20, dataCenterId: "EU-RO-1" }],
      registryAuths: [{ id: "r", name: "r", username: "u", password: "canary" }],
    });
    first.endpoints.delete(first.endpoints.create({ name: "e", gpuIds: "ADA_24", templateId: "t" }).id);
    const endpoint = first.endpoints.create({ name: "e", gpuIds: "ADA_24", templateId: "t", workersMin: 1 });
    await first.stop();
    expect(readFileSync(dataFile, "utf8")).not.toContain("canary");

    await using second = await startEmulator({ dataFile, clock, profile: "observed" });
    expect(second.templates.list()).toMatchObject([{ id: "t", env: [{ key: "A", value: "1" }] }]);
    expect(second.volumes.list()).toMatchObject([{ id: "v", size: 20 }]);
    expect(second.registryAuths.matches("r", "u", "canary")).toBe(true);
    expect(second.endpoints.get(endpoint.id)?.pods[0]?.container).toMatchObject({
      imageName: "app:1",
      env: { A: "1" },
    });
    expect((await save(second, `${REQUIRED}, networkVolumeId: "other"`)).body.errors).toHaveLength(1);
    second.endpoints.delete(endpoint.id);
    expect((await mutate(second, 'deleteTemplate(templateName: "app")')).body.errors).toHaveLength(1);
  });

  test("a data file keeps the key unless another key is set", async () => {
    const first = await startEmulator({ profile: "contract", dataFile });
    await first.stop();
    const second = await startEmulator({ profile: "contract", dataFile });
    await second.stop();
    expect(second.apiKey).toBe(first.apiKey);
    const third = await startEmulator({ profile: "contract", dataFile, apiKey: "asked-for" });
    await third.stop();
    await using fourth = await startEmulator({ profile: "contract", dataFile });
    expect([third.apiKey, fourth.apiKey]).toEqual(["asked-for", "asked-for"]);
    expect((await graphql(fourth, "{ myself { id } }", first.apiKey)).status).toBe(401);
  });

  test("[myself.id] a data file is one account, whatever its key, and every emulator without a data file is another", async () => {
    const idOf = async (options: EmulatorOptions) => {
      await using emulator = await startEmulator({ profile: "observed", ...options });
      return (await graphql(emulator, "{ myself { id } }")).body.data.myself.id as string;
    };
    const id = await idOf({ dataFile, apiKey: "first" });
    expect(await idOf({ dataFile, apiKey: "rotated" })).toBe(id);
    const others = [await idOf({ apiKey: "first" }), await idOf({ apiKey: "first" }), await idOf({ apiKey: "other" })];
    expect(new Set([id, ...others]).size).toBe(4);
  });

  test("a data file takes precedence over the seed", async () => {
    const seed = { endpoints: [{ id: "mine", name: "a", gpuIds: "ADA_24", templateId: "t" }] };
    const first = await startEmulator({ profile: "contract", dataFile, seed });
    first.endpoints.delete("mine");
    await createEndpoint(first);
    await first.stop();
    await using second = await startEmulator({ profile: "contract", dataFile, seed });
    expect(second.endpoints.get("mine")).toBeUndefined();
    expect(second.endpoints.list()).toHaveLength(1);
  });

  test.each([
    ["no JSON", "{"],
    ["something else", '{"version": 9}'],
  ])("a data file is refused and left unchanged if it contains %s", async (_, text) => {
    writeFileSync(dataFile, text);
    await expect(startEmulator({ profile: "contract", dataFile })).rejects.toThrow(/not contain JSON|not well formed/);
    expect(readFileSync(dataFile, "utf8")).toBe(text);
  });

  test.each([
    ["runtime", {}],
    ["runtime", { jobs: [], counters: { submitted: 0 } }],
    ["runtime", { jobs: [{ id: "job-1", status: "IN_QUEUE" }] }],
    ["record", { id: "mine", name: "a" }],
  ])("a data file is refused and left unchanged if it contains half a %s: %j", async (part, half) => {
    const first = await startEmulator({ profile: "contract", dataFile });
    await createEndpoint(first);
    await first.stop();
    const saved = JSON.parse(readFileSync(dataFile, "utf8"));
    Object.assign(saved.endpoints[0], { [part]: half });
    const text = JSON.stringify(saved);
    writeFileSync(dataFile, text);
    await expect(startEmulator({ profile: "contract", dataFile })).rejects.toThrow(
      new RegExp(`is not data of an emulator.*not well formed.*at endpoints\\[0\\]\\.${part}\\.`, "s"),
    );
    expect(readFileSync(dataFile, "utf8")).toBe(text);
  });

  const testOnPosix = process.platform === "win32" ? test.skip : test;
  testOnPosix("is its owner's alone, whatever was there before", async () => {
    for (const old of [dataFile, `${dataFile}.tmp`]) writeFileSync(old, "", { mode: 0o644 });
    rmSync(dataFile);
    await using emulator = await startEmulator({ profile: "contract", dataFile });
    await createEndpoint(emulator);
    expect((statSync(dataFile).mode & 0o777).toString(8)).toBe("600");
  });

  test("a data file is reported at startup if it cannot be written", async () => {
    const missing = path.join(folder, "missing", "state.json");
    await expect(startEmulator({ profile: "contract", dataFile: missing })).rejects.toThrow(
      /missing.* cannot be written: there is no such/,
    );
  });

  test("a data file still allows reads once it can no longer be written", async () => {
    const sub = path.join(folder, "sub");
    mkdirSync(sub);
    await using emulator = await startEmulator({ profile: "contract", dataFile: path.join(sub, "state.json") });
    await createEndpoint(emulator);
    rmSync(sub, { recursive: true });
    expect((await save(emulator, REQUIRED)).status).toBe(500);
    const { status, body } = await graphql(emulator, "query { myself { endpoints { name } } }");
    expect([status, body.data.myself.endpoints.length]).toEqual([200, 2]);
    expect((await send(`${emulator.url}/_emulator/endpoints`, { headers: authorized(emulator) })).status).toBe(200);
    mkdirSync(sub);
  });

  test("a data file makes writing requests fail with the reason once it can no longer be written", async () => {
    const sub = path.join(folder, "sub");
    mkdirSync(sub);
    await using emulator = await startEmulator({ profile: "contract", dataFile: path.join(sub, "state.json") });
    rmSync(sub, { recursive: true });
    const { status, text } = await save(emulator, REQUIRED);
    expect(status).toBe(500);
    expect(text).toContain("cannot be written: there is no such file or folder");
    const [request] = emulator.journal.requests();
    expect(request).toMatchObject({
      status: 500,
      outcome: "error",
      error: expect.stringContaining("cannot be written"),
    });
    mkdirSync(sub);
  });
});

const main = path.resolve(__dirname, "../../../dist/cli/main.js");

async function start(): Promise<{ child: ChildProcess; emulator: Emulator }> {
  const child = spawn(process.execPath, [main, "emulator", "--json", "--data", dataFile, "--drain-ms", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface(child.stdout as NodeJS.ReadableStream), "line");
  const { url, env } = JSON.parse(line);
  return { child, emulator: { url, apiKey: env.SERVERLESS_GPU_API_KEY } as Emulator };
}

describe("a data file that another emulator has", () => {
  const locks = () => readdirSync(folder).filter((name) => name.includes(".lock-"));

  async function kill(child: ChildProcess) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  test("a data file that another emulator has is refused within the same process until the other emulator stops", async () => {
    const first = await startEmulator({ profile: "contract", dataFile });
    await expect(startEmulator({ profile: "contract", dataFile })).rejects.toThrow(
      /is in use by another emulator, in this process\. Stop/,
    );
    // The refusal left the first one's lock in place.
    await createEndpoint(first);
    await expect(startEmulator({ profile: "contract", dataFile })).rejects.toThrow("is in use");
    await first.stop();
    const second = await startEmulator({ profile: "contract", dataFile });
    expect(second.endpoints.list()).toHaveLength(1);
    // Ending twice does not remove the next emulator's lock.
    await first.stop();
    await expect(startEmulator({ profile: "contract", dataFile })).rejects.toThrow("is in use");
    await second.stop();
    expect(locks()).toEqual([]);
  });

  test("a data file that another emulator has is refused to another process, but becomes available once that process is killed", async () => {
    const { child, emulator } = await start();
    await createEndpoint(emulator);
    await expect(startEmulator({ profile: "contract", dataFile })).rejects.toThrow(
      `by another emulator, in process ${child.pid} on `,
    );
    expect(locks()).toHaveLength(1);
    await kill(child);
    expect(locks()).toHaveLength(1);
    const next = await startEmulator({ profile: "contract", dataFile });
    expect(next.endpoints.list()).toHaveLength(1);
    expect(locks()).toHaveLength(1);
    await next.stop();
  });

  test("a data file that another emulator has is opened by only one of several emulators that start at the same time", async () => {
    const starts = await Promise.allSettled([1, 2, 3, 4].map(() => startEmulator({ profile: "contract", dataFile })));
    const running = starts.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    expect(running).toHaveLength(1);
    for (const emulator of running) await emulator.stop();
  });

  test("a data file that another emulator has is not written by an emulator whose lock another one has taken over", async () => {
    const first = await startEmulator({ profile: "contract", dataFile });
    await createEndpoint(first);
    const before = readFileSync(dataFile, "utf8");
    // As if the first one had been suspended for longer than its lock lasts.
    const [lock = ""] = locks();
    renameSync(path.join(folder, lock), path.join(folder, lock.replace(/\d+$/, "9")));
    await new Promise((resolve) => setTimeout(resolve, 5_500));
    const { status, text } = await save(first, REQUIRED);
    expect([status, text]).toEqual([500, expect.stringContaining("is in use by another emulator")]);
    expect(readFileSync(dataFile, "utf8")).toBe(before);
    await expect(first.stop()).rejects.toThrow("is in use by another emulator");
  });

  test("a data file that another emulator has is released by an emulator that could not start", async () => {
    writeFileSync(dataFile, "{");
    await expect(startEmulator({ profile: "contract", dataFile })).rejects.toThrow("does not contain JSON");
    expect(locks()).toEqual([]);
  });
});

describe("after kill -9", () => {
  /**
   * Creates, changes and deletes endpoints and submits jobs until the emulator dies, and records
   * what was acknowledged.
   */
  async function work(
    emulator: Emulator,
    acknowledged: Map<string, number>,
    jobs: Map<string, string>,
    unsure: Set<string>,
    kill: (step: number) => void,
  ) {
    for (let step = 0; ; step++) {
      kill(step);
      const id = [...acknowledged.keys()].find((known) => !unsure.has(known));
      if (id !== undefined && step % 3 === 1) {
        unsure.add(id);
        await save(emulator, `id: "${id}", ${REQUIRED}, workersMax: ${step}`);
        acknowledged.set(id, step);
        unsure.delete(id);
        jobs.set((await run(emulator, id, { step })).body.id, id);
      } else if (id !== undefined && step % 7 === 3) {
        unsure.add(id);
        await save(emulator, `id: "${id}", ${REQUIRED}, workersMax: 0`);
        acknowledged.set(id, 0);
        const { body } = await graphql(emulator, `mutation { deleteEndpoint(id: "${id}") }`);
        if (!body.errors) {
          acknowledged.delete(id);
          for (const [job, endpoint] of jobs) if (endpoint === id) jobs.delete(job);
        }
        unsure.delete(id);
      } else acknowledged.set(await createEndpoint(emulator), 3);
    }
  }

  test("an emulator restarts with everything that it had acknowledged before", async () => {
    const acknowledged = new Map<string, number>();
    const jobs = new Map<string, string>();
    for (let round = 0; round < 8; round++) {
      const { child, emulator } = await start();
      const { body } = await graphql(emulator, "{ myself { endpoints { id workersMax } } }");
      const kept = new Map<string, number>(
        body.data.myself.endpoints.map((endpoint: { id: string; workersMax: number }) => [
          endpoint.id,
          endpoint.workersMax,
        ]),
      );
      for (const [id, workersMax] of acknowledged) expect([id, kept.get(id)]).toEqual([id, workersMax]);
      for (const [job, endpoint] of jobs) expect((await statusOf(emulator, endpoint, job)).status).toBe(200);

      const unsure = new Set<string>();
      // The kill comes at a different step in each round, shortly after its request was sent.
      const kill = (step: number) => {
        if (step === 5 + round * 4) setTimeout(() => child.kill("SIGKILL"), round % 4);
      };
      await work(emulator, acknowledged, jobs, unsure, kill).catch(() => {});
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      // What was under way when it died may or may not have happened.
      for (const id of unsure) acknowledged.delete(id);
      for (const [job, endpoint] of jobs) if (unsure.has(endpoint)) jobs.delete(job);
    }
    expect(acknowledged.size).toBeGreaterThan(3);
    expect(readdirSync(folder).filter((file) => !file.startsWith("state.json"))).toEqual([]);
  }, 300_000);
});
