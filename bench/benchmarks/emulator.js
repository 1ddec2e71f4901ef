const http = require("node:http");
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
    watched: async () => {
      const close = await openPage(port);
      try {
        return await requestsPerSecond({ ...request, port, ms });
      } finally {
        close();
      }
    },
  };
  try {
    // The first run includes the compiler's work.
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
      {
        what: `emulator: /status, ${CONCURRENCY} in flight, its page open`,
        unit: "/s",
        ours: rates.watched,
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

/**
 * Follows the emulator as its page does. Returns a function that ends it.
 * @param {number} port
 * @returns {Promise<() => void>}
 */
function openPage(port) {
  return new Promise((resolve, reject) => {
    const request = http.get({ port, host: "127.0.0.1", path: "/_emulator/events" }, (response) => {
      response.on("error", () => {});
      response.once("data", () => {
        response.resume();
        resolve(() => request.destroy());
      });
    });
    request.on("error", reject);
  });
}

module.exports = { title: "the emulator's /status", run };
