const path = require("node:path");

const CLIENT = path.resolve(__dirname, "../../dist/sdk/index.js");

/** The time limit of the question, in milliseconds. */
const TIMEOUT_MS = 5_000;

/**
 * Returns the line that ties a project to the account of the environment's key. Returns `undefined`
 * without a key, or if the service does not show the account.
 */
async function accountLine() {
  if (!process.env.SERVERLESS_GPU_API_KEY?.trim()) return undefined;
  const { createClient } = require(CLIENT);
  try {
    const client = createClient();
    const id = await client.account.id({ timeoutMs: TIMEOUT_MS, maxRetries: 0 }).finally(() => client.close());
    return `To refuse keys of other accounts, add this line to the config in Pulumi.yaml: serverless-gpu:account: ${id}`;
  } catch {
    return undefined;
  }
}

module.exports = { accountLine };
