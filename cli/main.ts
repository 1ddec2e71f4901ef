#!/usr/bin/env node
import { nodeProblem } from "../sdk/contract/nodeVersion";
import { ownPackage } from "./ownPackage";

// Everything else is loaded only after the check, because an old Node.js fails to load it.
const problem = nodeProblem(process.versions.node);
const args = process.argv.slice(2);
if (problem !== undefined) {
  process.stderr.write(`serverless-gpu: ${problem}\n`);
  process.exitCode = 1;
} else if (args.length === 1 && args[0] === "--version") {
  // Without loading the commands, which takes longer than Node.js itself.
  process.stdout.write(`${ownPackage().version}\n`);
} else {
  // The reader of a pipe, such as `head`, may end first.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit();
  });
  void import("./commandLine.js").then(({ runCommandLine }) => runCommandLine(args));
}
