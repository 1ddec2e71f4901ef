import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { inspect } from "node:util";
import { Pool } from "pg";
import { startEmulator } from "../../../emulator";
import type { BatchResult } from "../../../sdk/batches/batchResults";
import { createClient } from "../../../sdk/client/client";
import { InvalidInputError } from "../../../sdk/errors/errors";
import { redact } from "../../../sdk/errors/secretText";
import type { JournalBatch } from "../../../sdk/journal/journal";
import { JournalRefusedError, JournalUnavailableError } from "../../../sdk/journal/journalErrors";
import { postgresJournal } from "../../../sdk/journal/postgresJournal";
import { recordJobs } from "../../../sdk/journal/recordJobs";
import { journalRules } from "../../support/journalRules";
import { needsPostgres, type PostgresServer, startPostgres } from "../../support/postgres";

const named = (...keys: readonly string[]) => keys.map((key) => ({ key }));

const BATCH: JournalBatch = { batch: "pages", endpointId: "e1", keyVersion: "1" };

const testHere = needsPostgres === "" ? test : test.skip;

let server: PostgresServer;
let pool: Pool;

if (needsPostgres === "") {
  beforeAll(async () => {
    server = await startPostgres();
    pool = new Pool({ connectionString: server.url, max: 20 });
    await postgresJournal({ pool }).migrate();
  });

  afterAll(async () => {
    await pool?.end();
    await server?.[Symbol.asyncDispose]();
  });

  beforeEach(() => pool.query("TRUNCATE serverless_gpu.batches, serverless_gpu.owners CASCADE"));
}

describe(`${needsPostgres}a journal in PostgreSQL`, () => {
  testHere.each(journalRules)("$title", ({ check }) => check(postgresJournal({ pool })));

  testHere("ends the lease of a silent process by the clock of the database", async () => {
    const journal = await postgresJournal({ pool, leaseMs: 1_000 }).open(BATCH);
    await journal.claim("a", named("k1", "k2"), []);
    await journal.record("a", [{ key: "k2", owner: "a", state: "submitted", jobId: "j2", submittedAt: 1 }]);
    expect((await journal.collect("b", ["k1", "k2"])).map(({ owner }) => owner)).toEqual(["a", "a"]);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const taken = await journal.collect("b", ["k1", "k2"]);
    expect(taken.map(({ key, state, owner }) => `${key} ${state} ${owner}`).sort()).toEqual([
      "k1 uncertain a",
      "k2 submitted b",
    ]);
    expect(await journal.claim("a", named("k3"), [])).toBeUndefined();
  });

  testHere("lets one of many collectors take over each job", async () => {
    const journal = await postgresJournal({ pool, leaseMs: 1_000 }).open(BATCH);
    const keys = Array.from({ length: 200 }, (_, n) => `k${n}`);
    await journal.claim("a", named(...keys), []);
    await journal.record(
      "a",
      keys.map((key) => ({ key, owner: "a", state: "submitted", jobId: `j ${key}`, submittedAt: 1 })),
      true,
    );
    const collectors = await Promise.all(
      Array.from({ length: 8 }, (_, n) => journal.claim(`c${n}`, [], []).then(() => journal.collect(`c${n}`, keys))),
    );
    const taken = collectors.map((entries, n) => entries.filter(({ owner }) => owner === `c${n}`).length);
    expect(taken.reduce((sum, each) => sum + each, 0)).toBe(200);
  });

  testHere("gives the job of a webhook to the batch, and only to a key without one", async () => {
    const made = postgresJournal({ pool });
    const journal = await made.open(BATCH);
    await journal.claim("a", named("k1", "k2"), []);
    await journal.record("a", [{ key: "k2", owner: "a", state: "submitted", jobId: "j2", submittedAt: 1 }], true);
    const jobs = ["k1", "k2", "unknown"].map((key) => ({ key, jobId: `job-${key}` }));
    expect((await recordJobs(made, BATCH, jobs)).map(({ key }) => key)).toEqual(["k2", "unknown"]);
    const entries = await journal.collect("b", ["k1", "k2", "unknown"]);
    expect(entries.map(({ key, state, owner, jobId }) => [key, state, owner, jobId]).sort()).toEqual([
      ["k1", "submitted", "b", "job-k1"],
      ["k2", "submitted", "b", "j2"],
    ]);
  });

  testHere("refuses a batch of another format", async () => {
    const journal = postgresJournal({ pool });
    await journal.open(BATCH);
    await pool.query("UPDATE serverless_gpu.batches SET format = 2");
    await expect(journal.open(BATCH)).rejects.toThrow(JournalRefusedError);
    await expect(journal.open(BATCH)).rejects.toThrow(/has the format 2, .* only format 1/);
  });

  testHere("forgets a finished batch with its results, and only then", async () => {
    const journal = postgresJournal({ pool });
    await expect(journal.forget("pages")).rejects.toThrow('the database has no batch "pages"');
    const open = await journal.open(BATCH);
    await open.claim("a", named("k1", "k2"), []);
    const change = { key: "k1", owner: "a", jobId: "j1", submittedAt: 1 };
    await open.record("a", [{ ...change, state: "delivered", result: "{}" }]);
    await expect(journal.forget("pages")).rejects.toThrow("1 inputs of batch");
    await open.record("a", [{ ...change, key: "k2", state: "failed" }], true);
    await journal.forget("pages");
    const left = await Promise.all(
      ["batches", "keys", "results", "owners"].map((table) => pool.query(`SELECT FROM serverless_gpu.${table}`)),
    );
    expect(left.map(({ rows }) => rows.length)).toEqual([0, 0, 0, 0]);
  });

  testHere("skips large results without reading them", async () => {
    const open = await postgresJournal({ pool }).open(BATCH);
    await open.claim("a", named("k1"), []);
    const result = JSON.stringify("x".repeat(20_000_000));
    await open.record("a", [{ key: "k1", owner: "a", jobId: "j1", state: "delivered", result }]);
    const entries = (await open.claim("a", named("k1"), [])) ?? [];
    expect(JSON.stringify(entries).length).toBeLessThan(1_000);
    expect((await open.result("k1"))?.length).toBe(result.length);
  });

  testHere("gives up a statement that gets no response", async () => {
    // It accepts connections and never answers.
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const stalled = new Pool({ host: "127.0.0.1", port, connectionTimeoutMillis: 2_000 });
    const since = performance.now();
    const error = await postgresJournal({ pool: stalled })
      .open(BATCH)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(JournalUnavailableError);
    expect(performance.now() - since).toBeLessThan(30_000);
    silent.close();
  });

  testHere("says what to do without tables, and without a server", async () => {
    await pool.query("ALTER SCHEMA serverless_gpu RENAME TO elsewhere");
    try {
      await expect(postgresJournal({ pool }).open(BATCH)).rejects.toThrow(/no tables.*migrate\(\)/);
    } finally {
      await pool.query("ALTER SCHEMA elsewhere RENAME TO serverless_gpu");
    }
    const nowhere = new Pool({ connectionString: "postgres://me:canary-password@127.0.0.1:1/x" });
    const error = await postgresJournal({ pool: nowhere })
      .open(BATCH)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(JournalUnavailableError);
    expect(String(error)).toMatch(/ECONNREFUSED/);
    await nowhere.end();
  });

  testHere("keeps the password out of errors", () => {
    expect(redact("wrong: canary-password")).toBe("wrong: [redacted]");
    expect(inspect(new JournalUnavailableError(`cannot reach ${server.url}`))).not.toContain("canary-password");
  });

  testHere("does at least 500 submits a second", async () => {
    const journal = await postgresJournal({ pool }).open(BATCH);
    const jobs = 2_000;
    const startedAt = performance.now();
    for (let n = 0; n < jobs; n += 50) {
      const keys = Array.from({ length: 50 }, (_, at) => `key ${n + at}`);
      await journal.claim("a", named(...keys), []);
      const changes = keys.map((key) => ({ key, owner: "a", jobId: `job of ${key}`, submittedAt: 1 }));
      await journal.record(
        "a",
        changes.map((each) => ({ ...each, state: "submitted" as const })),
      );
      await journal.record(
        "a",
        changes.map((each) => ({ ...each, state: "delivered" as const })),
      );
    }
    const perSecond = jobs / ((performance.now() - startedAt) / 1_000);
    // Other tests may use the same processors.
    expect(perSecond).toBeGreaterThan(process.env.CI ? 100 : 50);
  });

  testHere("lets three processes share a batch while the database restarts: each input runs once", async () => {
    const runs = new Map<unknown, number>();
    const worker = ({ input }: { readonly input: { readonly n?: unknown } }) => {
      runs.set(input.n, (runs.get(input.n) ?? 0) + 1);
      return { n: input.n };
    };
    await using emulator = await startEmulator({ profile: "contract", coldStartMs: 0, handlers: { worker } });
    const { id } = emulator.endpoints.create({
      name: "worker",
      gpuIds: "AMPERE_16",
      templateId: "t",
      workersMin: 10,
      workersMax: 10,
    });
    const inputs = Array.from({ length: 300 }, (_, n) => ({ n }));
    const all: BatchResult[] = [];
    const counts: number[] = [];
    const share = async () => {
      await using client = createClient({ apiKey: emulator.apiKey, queueUrl: emulator.url });
      const own = new Pool({ connectionString: server.url, max: 3 });
      const journal = postgresJournal({ pool: own, leaseMs: 10_000 });
      const batch = client.endpoint(id).runMany(inputs, { journal, batch: "shared", concurrency: 30 });
      for await (const result of batch) all.push(result);
      counts.push(batch.counts.completed + batch.counts.skipped);
      await own.end();
    };
    const shares = Promise.all([share(), share(), share()]);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await server.restart(300);
    await shares;
    expect(all.filter(({ error }) => error)).toEqual([]);
    expect(counts).toEqual([300, 300, 300]);
    expect([runs.size, [...runs.values()].filter((count) => count > 1)]).toEqual([300, []]);
    expect(new Set(all.map(({ index }) => index)).size).toBe(300);
  });

  test.each([
    {},
    { pool: "postgres://localhost" as never },
    { pool: { query() {} } as never, leaseMs: 5 },
  ])("a journal in PostgreSQL is refused with %j", (options) => {
    expect(() => postgresJournal(options as never)).toThrow(InvalidInputError);
  });
});
