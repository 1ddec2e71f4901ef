const { fork } = require("node:child_process");
const path = require("node:path");

/**
 * Starts a script of `bench/processes/` in its own process, and waits for its first message.
 * @template Message
 * @param {string} script
 * @param {{ args?: string[], execArgv?: string[], env?: Readonly<Record<string, string>> }}
 * [options]
 * @returns {Promise<{ message: Message, stop: () => Promise<void> }>}
 */
function start(script, { args = [], execArgv = [], env = {} } = {}) {
  return new Promise((resolve, reject) => {
    const file = path.join(__dirname, "processes", script);
    const child = fork(file, args, { execArgv, env: { ...process.env, ...env } });
    /** @type {Promise<void>} */
    const ended = new Promise((end) => child.once("exit", () => end()));
    const stop = () => {
      child.kill();
      return ended;
    };
    child.once("message", (message) => resolve({ message: /** @type {Message} */ (message), stop }));
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`bench/processes/${script} ended with exit code ${code}`)));
  });
}

/**
 * Runs a script of `bench/processes/` until it has sent its only message, and returns the message.
 * @template Message
 * @param {string} script
 * @param {{ args?: string[], execArgv?: string[], env?: Readonly<Record<string, string>> }}
 * [options]
 * @returns {Promise<Message>}
 */
async function measure(script, options) {
  const { message, stop } = await start(script, options);
  await stop();
  return /** @type {Message} */ (message);
}

module.exports = { start, measure };
