const { alternate } = require("../runner");
const { requestsPerSecond } = require("../load");
const { start } = require("../processes");

const CONCURRENCY = 64;

/** @typedef {{ port: number, path: string, apiKey: string, body: string }} StartedEmulator */

/** @param {import("../runner").Settings} settings */
async function run({ quick, log }) {
  const [ms, runs] = quick ? [300, 1] : [3000, 7];
  const emulator = await start("emulatorServer.js");
  const { path, apiKey, body, port } = /** @type {StartedEmulator} */ (emulator.message);
  const plain = await start("plainServer.js", { args: [body] });
  const { port: plainPort } = /** @type {{ port: number }} */ (plain.message);
  const request = { path, headers: { authorization: `Bearer ${apiKey}` }, concurrency: CONCURRENCY };
  const works = {
    ours: () => requestsPerSecond({ ...request, port, ms }),
    plain: () => requestsPerSecond({ ...request, port: plainPort, ms }),
  };
  try {
    // The first time is the compiler's.
    await alternate(1, works);
    const rates = await alternate(runs, works);
    log(`the response: ${body}`);
    return [
      {
        what: `emulator: /status, ${CONCURRENCY} in flight`,
        unit: "/s",
        ours: rates.ours,
        against: "node:http with the same response",
        theirs: rates.plain,
        judged: "ratio",
        mark: { atLeast: 0.6 },
      },
    ];
  } finally {
    await Promise.all([emulator.stop(), plain.stop()]);
  }
}

module.exports = { title: "the emulator's /status", run };
