const { spawn } = require("node:child_process");

/** Number of lines of a failed command's output that an error shows. */
const SHOWN_LINES = 8;

/**
 * Runs a command to its end and returns its standard output. Fails with the last lines of its error
 * output.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, timeoutMs?: number }} [options]
 * @returns {Promise<string>}
 */
function run(command, args, { cwd, env, timeoutMs } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, timeout: timeoutMs, stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0) return resolve(stdout);
      const end = stderr.trim().split("\n").slice(-SHOWN_LINES).join("\n");
      reject(new Error(`${command} ${args[0]} ended with ${signal ?? `exit code ${code}`}${end && `:\n${end}`}`));
    });
  });
}

module.exports = { run };
