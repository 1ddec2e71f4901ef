import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Pool } from "pg";
import { type Emulator, startEmulator } from "../../emulator";
import { SUBMIT_SLOTS } from "../../sdk/batches/ledger";
import { postgresJournal } from "../../sdk/journal/postgresJournal";
import { needsPostgres, type PostgresServer, startPostgres } from "../support/postgres";
import { type StallingLine, startStallingLine } from "../support/stallingLine";

/** `BATCH_JOBS=2000 BATCH_FAULTS=8 npm run test:faults -- batches` plays a small one. */
const JOBS = Number(process.env.BATCH_JOBS ?? 20_000);
const FAULTS = Number(process.env.BATCH_FAULTS ?? 40);
const FILE_JOBS = Math.ceil(JOBS / 4);
const FILE_FAULTS = Math.ceil(FAULTS / 4);
const PROCESSES = 3;
/** How long each job takes, in milliseconds. */
const JOB_MS = 200;
/** The command's exit code if inputs are uncertain. */
const NOT_ALL = 3;
const MAIN = path.resolve(__dirname, "../../dist/cli/main.js");

const testHere = needsPostgres === "" ? test : test.skip;

interface Report {
  readonly heap?: number;
  readonly uncertain?: readonly string[];
}

/** Counts how often the input of each job ran. */
async function startService(runs: Uint8Array): Promise<{ readonly emulator: Emulator; readonly id: string }> {
  const emulator = await startEmulator({
    profile: "contract",
    coldStartMs: 0,
    rateLimits: { limits: "off" },
    handlers: {
      worker: async ({ input }, { sleep }) => {
        const n = input.n as number;
        runs[n] = (runs[n] ?? 0) + 1;
        await sleep(JOB_MS);
        return { n };
      },
    },
  });
  const fields = { name: "worker", gpuIds: "AMPERE_24", templateId: "t", workersMin: 30, workersMax: 30 };
  return { emulator, id: emulator.endpoints.create(fields).id };
}

/** Processes that are started again until they have finished their batch. */
class Lives {
  readonly kills: Record<string, number> = { kill: 0, stop: 0, restart: 0, stall: 0 };
  readonly ends: Promise<(number | null)[]>;
  isOver = false;
  readonly #children: (ChildProcess | undefined)[] = [];

  constructor(count: number, start: (number: number) => ChildProcess) {
    this.ends = Promise.all(Array.from({ length: count }, (_, n) => this.#live(n, start)));
    void this.ends.then(() => {
      this.isOver = true;
    });
  }

  async #live(number: number, start: (number: number) => ChildProcess): Promise<number | null> {
    for (;;) {
      const child = start(number);
      this.#children[number] = child;
      const [code] = (await once(child, "exit")) as [number | null];
      if (code === 0 || code === NOT_ALL) return code;
      // It was killed, or the database was down when it started.
      await pause(500);
    }
  }

  #any(): ChildProcess | undefined {
    const alive = this.#children.filter((child) => child?.exitCode === null && child.signalCode === null);
    return alive[Math.floor(Math.random() * alive.length)];
  }

  kill(): void {
    this.#any()?.kill("SIGKILL");
  }

  /** Stops a process for longer than its lease, or shorter. */
  async stop(): Promise<void> {
    const child = this.#any();
    child?.kill("SIGSTOP");
    await pause(Math.random() * 20_000);
    child?.kill("SIGCONT");
  }

  /** Causes faults of all kinds in turn, at random moments. */
  async suffer(count: number, faults: Readonly<Record<string, () => unknown>>): Promise<void> {
    const names = Object.keys(faults);
    for (let n = 0; n < count && !this.isOver; n++) {
      await pause(500 + Math.random() * 3_000);
      const name = names[n % names.length] ?? "";
      this.kills[name] = (this.kills[name] ?? 0) + 1;
      await faults[name]?.();
    }
  }
}

const stalled = async (line: StallingLine) => {
  line.stall();
  await pause(Math.random() * 25_000);
  line.resume();
};

const restarted = (server: PostgresServer) => server.restart(Math.random() * 3_000);

const linesOf = async (file: string) =>
  (await readFile(file, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");

testHere(
  `${needsPostgres}a batch of ${JOBS} jobs on ${PROCESSES} processes runs each input once through ${FAULTS} faults`,
  async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "batches-"));
    await using server = await startPostgres();
    await using line = await startStallingLine(Number(new URL(server.url).port));
    const pool = new Pool({ connectionString: server.url });
    pool.on("error", () => {});
    await postgresJournal({ pool }).migrate();
    const runs = new Uint8Array(JOBS);
    const { emulator, id } = await startService(runs);
    const url = new URL(server.url);
    url.port = String(line.port);
    const reports: Report[] = [];
    const startedAt = performance.now();
    const lives = new Lives(PROCESSES, (number) => {
      const args = [emulator.url, id, String(JOBS), url.href, path.join(folder, `${number}`)];
      const env = { ...process.env, SERVERLESS_GPU_API_KEY: emulator.apiKey };
      const child = fork(path.join(__dirname, "batchProcess.js"), args, {
        env,
        execArgv: ["--max-old-space-size=256"],
      });
      child.on("message", (message) => reports.push(message as Report));
      return child;
    });
    await lives.suffer(FAULTS, {
      kill: () => lives.kill(),
      stop: () => lives.stop(),
      restart: () => restarted(server),
      stall: () => stalled(line),
    });
    expect(await lives.ends).toEqual(Array(PROCESSES).fill(0));

    const rows = await pool.query("SELECT key, state FROM serverless_gpu.keys");
    const states = rows.rows as { key: string; state: string }[];
    const uncertain = states.filter(({ state }) => state === "uncertain");
    const named = new Set(reports.flatMap(({ uncertain: names = [] }) => names));
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    const heaps = reports.flatMap(({ heap }) => (heap === undefined ? [] : [heap / 1e6]));
    const count = (wanted: number) => runs.filter((each) => each === wanted).length;
    const twice = runs.filter((each) => each > 1).length;
    process.stdout.write(
      `${JOBS} jobs in ${seconds} s, ${JSON.stringify(lives.kills)}: ${count(1)} paid once, ${twice} twice, ${count(0)} never, ` +
        `${uncertain.length} uncertain, heap ≤ ${Math.max(...heaps).toFixed(0)} MB\n`,
    );
    expect(twice).toBe(0);
    expect(states.filter(({ state }) => state === "delivered").length).toBe(JOBS - uncertain.length);
    expect(uncertain.length).toBeLessThanOrEqual(FAULTS * PROCESSES * SUBMIT_SLOTS);
    expect(uncertain.filter(({ key }) => !named.has(key))).toEqual([]);
    const sinks = await Promise.all(Array.from({ length: PROCESSES }, (_, n) => linesOf(path.join(folder, `${n}`))));
    expect(new Set(sinks.flat()).size).toBe(JOBS - uncertain.length);
    await pool.end();
    await emulator.stop();
    await rm(folder, { recursive: true, force: true });
  },
  6 * 3_600_000,
);

test(`the command runs each of ${FILE_JOBS} inputs once with a file as its journal, through ${FILE_FAULTS} faults`, async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "batches-"));
  const runs = new Uint8Array(FILE_JOBS);
  const { emulator, id } = await startService(runs);
  const inputs = Array.from({ length: FILE_JOBS }, (_, n) => `${JSON.stringify({ n })}\n`);
  await writeFile(path.join(folder, "in.jsonl"), inputs.join(""));
  const args = [MAIN, "batch", id, "--input", "in.jsonl", "--output", "out.jsonl"];
  const startedAt = performance.now();
  let stderr = "";
  const lives = new Lives(1, () => {
    const env = { ...process.env, ...emulator.env };
    const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] });
    stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    return child;
  });
  await lives.suffer(FILE_FAULTS, { kill: () => lives.kill(), stop: () => lives.stop() });
  const [code] = await lives.ends;
  const uncertain = Number(/(\d+) inputs have no result/.exec(stderr)?.[1] ?? 0);
  const results = (await linesOf(path.join(folder, "out.jsonl"))).map(
    (line) => (JSON.parse(line) as { key: string }).key,
  );
  const twice = runs.filter((each) => each > 1).length;
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  process.stdout.write(
    `${FILE_JOBS} jobs with a file in ${seconds} s, ${JSON.stringify(lives.kills)}: ${twice} twice, ${uncertain} uncertain\n`,
  );
  expect([code, twice]).toEqual([uncertain > 0 ? NOT_ALL : 0, 0]);
  expect([results.length, new Set(results).size]).toEqual([FILE_JOBS - uncertain, FILE_JOBS - uncertain]);
  await emulator.stop();
  await rm(folder, { recursive: true, force: true });
}, 3_600_000);
