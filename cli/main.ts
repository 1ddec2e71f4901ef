#!/usr/bin/env node
import { nodeProblem } from "../sdk/contract/nodeVersion";

// Everything else is loaded only after the check, because an old Node.js fails to load it.
const problem = nodeProblem(process.versions.node);
if (problem === undefined) {
  // The reader of a pipe, such as `head`, may end first.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit();
  });
  const { runCommandLine } = require("./commandLine") as typeof import("./commandLine");
  void runCommandLine(process.argv.slice(2));
} else {
  process.stderr.write(`serverless-gpu: ${problem}\n`);
  process.exitCode = 1;
}
