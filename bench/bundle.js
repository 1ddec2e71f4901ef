// Measures a program that only runs jobs: its bundle, and the time to load the client.
const { execFileSync } = require("node:child_process");
const { mkdtempSync, readFileSync, rmSync, writeFileSync } = require("node:fs");
const { tmpdir } = require("node:os");
const path = require("node:path");
const { gzipSync } = require("node:zlib");
const { buildSync } = require("esbuild");

const SDK = path.join(__dirname, "../dist/sdk/index.js");
const PROGRAM = `
const { createClient } = require(${JSON.stringify(SDK)});
const client = createClient({ apiKey: "bench-key", queueUrl: "http://127.0.0.1:9" });
client.endpoint("a");
`;
const RUNS = 11;

const folder = mkdtempSync(path.join(tmpdir(), "serverless-gpu-bundle-"));
const entry = path.join(folder, "program.js");
writeFileSync(entry, PROGRAM);
try {
  const out = path.join(folder, "bundle.js");
  buildSync({ entryPoints: [entry], outfile: out, bundle: true, platform: "node", minify: true, logLevel: "error" });
  const bytes = readFileSync(out);
  console.log(`bundle: ${Math.round(bytes.length / 1000)} kB, ${Math.round(gzipSync(bytes).length / 1000)} kB gzip`);
  const times = Array.from({ length: RUNS }, () => {
    // Processor time, because elapsed time doubles on a busy machine.
    const script = `
      const before = process.cpuUsage();
      require(${JSON.stringify(entry)});
      const { user, system } = process.cpuUsage(before);
      console.log((user + system) / 1000);`;
    return Number(execFileSync(process.execPath, ["-e", script]));
  }).sort((a, b) => a - b);
  console.log(`load: ${Math.round(times[(RUNS - 1) / 2] ?? 0)} ms of processor time (median of ${RUNS})`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
