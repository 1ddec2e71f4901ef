#!/usr/bin/env node
import { runAdopt } from "./adopt";
import { runEmulator } from "./emulator";

const usage = `Usage: serverless-gpu <command>

Commands:
  adopt            Write a Pulumi program that takes over the account's endpoints
  emulator         Run the emulator of the service on a local port
  emulator exec    Run a command with an emulator of its own

Run "serverless-gpu <command> --help" for the options of a command.`;

/** A command gets the arguments after its name and returns the exit code. */
const commands: Readonly<Record<string, (args: string[]) => Promise<number>>> = {
  adopt: runAdopt,
  emulator: runEmulator,
};

async function main([name = "--help", ...args]: string[]): Promise<number> {
  if (name === "--help" || name === "-h" || name === "help") {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    process.stderr.write(`serverless-gpu: there is no command "${name}".\n\n${usage}\n`);
    return 2;
  }
  return command(args);
}

main(process.argv.slice(2)).then(
  (exitCode) => {
    process.exitCode = exitCode;
  },
  (error: unknown) => {
    process.stderr.write(`serverless-gpu: ${error instanceof Error ? error.message : String(error)}\n`);
    // A mistake in the arguments (node:util parseArgs) is the caller's; anything else went wrong on its own.
    process.exitCode = String((error as { code?: unknown })?.code).startsWith("ERR_PARSE_ARGS") ? 2 : 1;
  },
);
