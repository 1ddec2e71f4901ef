const { mkdtempSync, rmSync } = require("node:fs");
const { tmpdir } = require("node:os");
const path = require("node:path");
const { startEmulator } = require("../../dist/emulator");
const { measure } = require("../processes");
const { alternate } = require("../runner");

/** @typedef {{ seconds: number, heaps: number[], results: number }} Report */

/**
 * Runs the same batch without a journal, with a file, and with the database that BENCH_DATABASE_URL
 * names, at the contract's rate limits.
 * @param {import("../runner").Settings} settings
 */
async function run({ quick, log }) {
  const jobs = quick ? 300 : 5_000;
  const folder = mkdtempSync(path.join(tmpdir(), "journal-bench-"));
  const database = process.env.BENCH_DATABASE_URL;
  let files = 0;
  /** @param {string} place */
  const batch = async (place) => {
    const emulator = await startEmulator({
      profile: "contract",
      coldStartMs: 0,
      handlers: { worker: () => "x".repeat(1_000) },
    });
    const fields = { name: "worker", gpuIds: "AMPERE_24", templateId: "t", workersMin: 10, workersMax: 10 };
    const { id } = emulator.endpoints.create(fields);
    try {
      const args = [emulator.url, id, String(jobs), place];
      const env = { SERVERLESS_GPU_API_KEY: emulator.apiKey };
      return /** @type {Report} */ (await measure("journaled.js", { args, env, execArgv: ["--expose-gc"] }));
    } finally {
      await emulator.stop();
    }
  };
  try {
    /** @type {Record<string, () => Promise<Report>>} */
    const works = {
      none: () => batch("none"),
      file: () => batch(path.join(folder, `${files++}.journal`)),
      ...(database !== undefined && { database: () => batch(database) }),
    };
    const reports = await alternate(quick ? 1 : 3, works);
    if (database === undefined) log("no BENCH_DATABASE_URL: the journal in PostgreSQL is not measured");
    const seconds = (/** @type {Report[] | undefined} */ given) => (given ?? []).map((report) => report.seconds);
    const heaps = (reports.file ?? []).map((report) => {
      const ends = report.heaps.map((heap) => heap / 1e6);
      return Math.max(...ends.slice(5)) - Math.min(...ends.slice(0, 5));
    });
    /** @type {import("../runner").Row[]} */
    const rows = [
      {
        what: `client: batch of ${jobs} jobs with a file journal`,
        unit: "s",
        ours: seconds(reports.file),
        against: "no journal",
        theirs: seconds(reports.none),
        judged: "ratio",
        mark: { atMost: 1.15 },
      },
      {
        what: `client: batch of ${jobs} jobs with a file journal, growth of the heap`,
        unit: "MB",
        ours: heaps,
        judged: "value",
        mark: { atMost: 10 },
      },
    ];
    if (database !== undefined) {
      rows.push({
        what: `client: batch of ${jobs} jobs, PostgreSQL journal`,
        unit: "s",
        ours: seconds(reports.database),
        against: "no journal",
        theirs: seconds(reports.none),
        judged: "ratio",
        mark: { atMost: 1.3 },
      });
    }
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

module.exports = { title: "what a journal adds to the time of a batch", run };
