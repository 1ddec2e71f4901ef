const path = require("node:path");
const { Agent, request } = require("undici");
const { createClient } = require("../../dist/sdk");
const { findPeer } = require("../peers");
const { start } = require("../processes");
const { alternate, timed } = require("../runner");

const CONCURRENCY = 64;
const API_KEY = "bench-key";
const ENDPOINT = "endpoint1";
const JOB = "job-1";
const ANSWER = JSON.stringify({
  id: JOB,
  status: "COMPLETED",
  delayTime: 12,
  executionTime: 345,
  output: { text: "Hello" },
});

/** @typedef {() => Promise<{ readonly status?: unknown }>} ReadStatus */

/** @param {import("../runner").Settings} settings */
async function run({ quick, log }) {
  const [count, runs] = quick ? [2_000, 1] : [20_000, 7];
  const server = await start("plainServer.js", { args: [ANSWER] });
  const { port } = /** @type {{ port: number }} */ (server.message);
  const url = `http://127.0.0.1:${port}`;
  const client = createClient({ apiKey: API_KEY, queueUrl: url, rateLimits: "off" });
  const peer = await runpodSdk(url, log);
  const readers = {
    ours: () => client.endpoint(ENDPOINT).status(JOB),
    undici: bareUndici(url),
    ...(peer && { peer }),
  };
  /** @param {ReadStatus} read */
  const rate = async (read) => count / ((await timed(() => readAll(read, count))) / 1000);
  const works = Object.fromEntries(Object.entries(readers).map(([name, read]) => [name, () => rate(read)]));
  try {
    // Don't count the first run, which includes the time for compilation.
    await alternate(1, works);
    const rates = await alternate(runs, works);
    return Object.keys(MARKS)
      .filter((name) => name in rates)
      .map((name) => ({
        what: `client: /status, ${CONCURRENCY} in flight`,
        unit: "/s",
        ours: rates.ours ?? [],
        theirs: rates[name],
        judged: /** @type {const} */ ("ratio"),
        ...MARKS[/** @type {keyof typeof MARKS} */ (name)],
      }));
  } finally {
    await client.close();
    await server.stop();
  }
}

const MARKS = {
  undici: { against: "undici.request and JSON.parse", mark: { atLeast: 0.85 } },
  peer: { against: "npm's runpod-sdk", mark: { atLeast: 2 } },
};

/**
 * Reads `count` times, at most 64 at once.
 * @param {ReadStatus} read
 * @param {number} count
 */
async function readAll(read, count) {
  let left = count;
  const reader = async () => {
    while (left-- > 0) {
      const { status } = await read();
      if (status !== "COMPLETED") throw new Error(`the job is ${status}`);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, reader));
}

/**
 * @param {string} url
 * @returns {ReadStatus}
 */
function bareUndici(url) {
  const dispatcher = new Agent();
  const headers = { authorization: `Bearer ${API_KEY}` };
  return async () => {
    const { body } = await request(`${url}/v2/${ENDPOINT}/status/${JOB}`, { dispatcher, headers });
    return JSON.parse(await body.text());
  };
}

/**
 * @param {string} url
 * @param {(line: string) => void} log
 * @returns {Promise<ReadStatus | undefined>}
 */
async function runpodSdk(url, log) {
  const folder = findPeer("runpod-sdk", log);
  if (!folder) return undefined;
  const { default: createSdk } = await import(path.join(folder, "dist/src/index.js"));
  const endpoint = createSdk(API_KEY, { baseUrl: `${url}/v2` }).endpoint(ENDPOINT);
  return () => endpoint.status(JOB);
}

module.exports = { title: "the client's /status", run };
