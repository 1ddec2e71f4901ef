/*
 * Plays a user's program: calls the package's data sources on request, and reports the result or
 * the error's message.
 */
const dataSources = require("pulumi-serverless-gpu");

process.on("message", async (/** @type {{ name: string, args: unknown }} */ { name, args }) => {
  try {
    const call = /** @type {Record<string, (args: unknown) => Promise<unknown>>} */ (
      /** @type {unknown} */ (dataSources)
    )[name];
    const result = JSON.parse(JSON.stringify(await call?.(args)) ?? "null");
    // A pod's environment is an Output, which a test cannot see into from here.
    process.send?.({ result });
  } catch (error) {
    process.send?.({ error: error instanceof Error ? error.message : String(error) });
  }
});
