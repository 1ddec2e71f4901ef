/*
 * Stands for a user's program: looks up what it is told to, by the package's own functions, and tells the result or the
 * error's message.
 */
const lookUps = require("pulumi-serverless-gpu");

process.on("message", async (/** @type {{ name: string, args: unknown }} */ { name, args }) => {
  try {
    const lookUp = /** @type {Record<string, (args: unknown) => Promise<unknown>>} */ (
      /** @type {unknown} */ (lookUps)
    )[name];
    const result = JSON.parse(JSON.stringify(await lookUp?.(args)) ?? "null");
    // A pod's environment is an Output, which a test cannot see into from here.
    process.send?.({ result });
  } catch (error) {
    process.send?.({ error: error instanceof Error ? error.message : String(error) });
  }
});
