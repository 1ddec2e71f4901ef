import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Pool } from "pg";
import { type Emulator, startEmulator } from "../../emulator";
import { SUBMIT_SLOTS } from "../../sdk/jobs/ledger";
import { postgresJournal } from "../../sdk/journal/postgresJournal";
import { needsPostgres, startPostgres } from "../support/postgres";

/** `BATCH_JOBS=2000 npm run test:faults -- batches` plays a small one. */
const JOBS = Number(process.env.BATCH_JOBS ?? 100_000);
const PROCESSES = 4;
const KILLS = Number(process.env.BATCH_KILLS ?? 10);

const testHere = needsPostgres === "" ? test : test.skip;

interface Report {
  readonly heap?: number;
  readonly counts?: Readonly<Record<string, number>>;
  readonly uncertain?: readonly string[];
}

/** Counts how often the input of each job ran. */
function startService(runs: Uint8Array): Promise<Emulator> {
  return startEmulator({
    coldStartMs: 0,
    rateLimits: { limits: "off" },
    handlers: {
      worker: ({ input }) => {
        const n = input.n as number;
        runs[n] = (runs[n] ?? 0) + 1;
        return { n };
      },
    },
  });
}

testHere(
  `${needsPostgres}a batch of ${JOBS} jobs on ${PROCESSES} processes, each killed ${KILLS} times, runs each input once`,
  async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "batches-"));
    await using server = await startPostgres();
    const pool = new Pool({ connectionString: server.url });
    pool.on("error", () => {});
    await postgresJournal({ pool }).migrate();
    const runs = new Uint8Array(JOBS);
    await using emulator = await startService(runs);
    const fields = { name: "worker", gpuIds: "AMPERE_24", templateId: "t", workersMin: 50, workersMax: 50 };
    const { id } = emulator.endpoints.create(fields);
    const reports: Report[] = [];
    const claimed: number[] = [];
    const startedAt = performance.now();

    const start = (name: string): ChildProcess => {
      const args = [emulator.url, id, String(JOBS), server.url, path.join(folder, name)];
      const env = { ...process.env, SERVERLESS_GPU_API_KEY: emulator.apiKey };
      const child = fork(path.join(__dirname, "batchProcess.js"), args, {
        env,
        execArgv: ["--max-old-space-size=256"],
      });
      child.on("message", (message) => reports.push(message as Report));
      return child;
    };

    const done = async () => {
      const rows = await pool.query("SELECT count(*)::int AS n FROM serverless_gpu.keys WHERE state = 'delivered'");
      return (rows.rows[0] as { n: number }).n;
    };

    /** Runs one of the processes until it ends, and kills it at random before. */
    async function live(number: number): Promise<number | null> {
      for (let kills = 0; ; kills++) {
        const child = start(`${number}`);
        const exit = once(child, "exit");
        if (kills === KILLS) return (await exit)[0] as number | null;
        // At least half a second of work, and as late as the whole batch takes.
        await Promise.race([exit, pause(1_000 + Math.random() * Math.min(30_000, JOBS / 4))]);
        if (child.exitCode !== null) return child.exitCode;
        child.kill("SIGKILL");
        await exit;
        claimed.push(kills);
      }
    }

    const lives = Promise.all(Array.from({ length: PROCESSES }, (_, n) => live(n)));
    const restarts = (async () => {
      for (const part of [1 / 4, 1 / 2]) {
        while ((await done().catch(() => 0)) < JOBS * part) await pause(500);
        await server.restart(1_000);
      }
    })();
    expect(await lives).toEqual(Array(PROCESSES).fill(0));
    await restarts;

    const states = await pool.query("SELECT state, count(*)::int AS n FROM serverless_gpu.keys GROUP BY state");
    const counts = Object.fromEntries(
      (states.rows as { state: string; n: number }[]).map(({ state, n }) => [state, n]),
    );
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    const uncertain = counts.uncertain ?? 0;
    const heaps = reports.flatMap(({ heap }) => (heap === undefined ? [] : [heap / 1e6]));
    const highest = Math.max(...heaps).toFixed(0);
    const submits = emulator.journal.requests({ operation: "run" }).length;
    process.stdout.write(
      `${JOBS} jobs in ${seconds} s, ${claimed.length} kills, ${uncertain} uncertain, ${submits} submits seen, heap ≤ ${highest} MB\n`,
    );
    expect(counts).toEqual({ delivered: JOBS - uncertain, ...(uncertain > 0 && { uncertain }) });
    expect(uncertain).toBeLessThanOrEqual(claimed.length * SUBMIT_SLOTS);
    expect(runs.filter((count) => count > 1)).toHaveLength(0);
    expect(runs.filter((count) => count === 0).length).toBeLessThanOrEqual(uncertain);
    const sinks = await Promise.all(
      Array.from({ length: PROCESSES }, (_, n) => readFile(path.join(folder, `${n}`), "utf8").catch(() => "")),
    );
    expect(new Set(sinks.flatMap((sink) => sink.split("\n").filter((line) => line !== ""))).size).toBe(
      JOBS - uncertain,
    );
    await pool.end();
    await rm(folder, { recursive: true, force: true });
  },
  6 * 3_600_000,
);
