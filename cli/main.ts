#!/usr/bin/env node
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { nodeProblem } from "../sdk/contract/nodeVersion";
import { ownPackage } from "./ownPackage";

/** The output of `help`, which the build writes. */
const HELP_FILE = path.join(__dirname, "help.txt");

// Load everything else after this check, because an old Node.js fails to load it.
const problem = nodeProblem(process.versions.node);
const args = process.argv.slice(2);
if (problem !== undefined) {
  process.stderr.write(`serverless-gpu: ${problem}\n`);
  process.exitCode = 1;
} else if (args.length === 1 && args[0] === "--version") {
  // Print the version and the help without loading the commands, which takes longer than starting
  // Node.js.
  process.stdout.write(`${ownPackage().version}\n`);
} else if (args.length === 1 && args[0] === "--help" && existsSync(HELP_FILE)) {
  process.stdout.write(readFileSync(HELP_FILE));
} else {
  // The reader of a pipe, such as `head`, may exit first.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit();
  });
  void import("./commandLine.js").then(({ runCommandLine }) => runCommandLine(args));
}
