import { startEmulator } from "../../emulator";
import { createStack } from "./harness";
test("x", async () => {
  await using emulator = await startEmulator({ profile: "observed" });
  const program = `
const gpu = require("pulumi-serverless-gpu");
setTimeout(() => { console.log("HANDLES " + process.getActiveResourcesInfo().join(",")); }, 6000).unref();
setTimeout(() => { console.log("HANDLES2 " + process.getActiveResourcesInfo().join(",")); process.exit(3); }, 15000).unref();
module.exports = async () => {
  if (process.env.M === "plain") { const p = gpu.getEndpoints(); throw new Error("plain"); }
  const p = gpu.getSpend({}); 
  if (process.env.M === "late") { await p; throw new Error("late"); }
  return { a: p.amount };
};`;
  const stack = await createStack({ program, env: emulator.env });
  for (const M of ["plain", "late", "get"]) {
    const t = Date.now();
    const r = await stack.run(["preview"], { M });
    process.stderr.write(`${M} ${Date.now() - t} ${r.exitCode} ${r.output}\n`);
  }
}, 120_000);
