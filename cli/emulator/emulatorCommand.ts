import type { Command } from "commander";
import { declareCommand } from "../declareCommand";
import { didYouMean } from "../didYouMean";
import { addEmulatorFlags, type EmulatorFlags, wholeNumberOption } from "./emulatorFlags";

const JSON_OPTION = ["--json", 'print one line of JSON instead: {"url", "env"}'] as const;

const envCommand = declareCommand({
  name: "env",
  summary: "Print the environment of a running emulator",
  usage: "[options]",
  description:
    "Prints the environment variables for an emulator that you started in another shell on this machine, or with exec.",
  options: (command) =>
    command
      .option("--port <n>", "the emulator's port, if several are running", wholeNumberOption(65_535))
      .option(...JSON_OPTION),
  examples: [
    'eval "$(npx pulumi-serverless-gpu emulator env)"',
    "npx pulumi-serverless-gpu emulator env --port 8080 --json",
  ],
  exitCodes: { 1: "no emulator is running, or several are and --port is missing" },
  load: () => require("./emulatorEnv") as typeof import("./emulatorEnv"),
  run: ({ emulatorEnv }, flags: { readonly port?: number; readonly json?: boolean }) => emulatorEnv(flags),
});

const execCommand = declareCommand({
  name: "exec",
  summary: "Run a command with its own emulator",
  usage: "[options] -- <command...>",
  description:
    "Starts an emulator, runs the command with its environment, and stops it when the command ends. With a shell as " +
    "the command, such as bash, you can type commands that use the emulator.",
  argument: ["<command...>", "the command and its arguments"],
  options: (command) =>
    addEmulatorFlags(command).showHelpAfterError(
      "Put -- before the command and its arguments, as in: npx pulumi-serverless-gpu emulator exec -- npm test\n" +
        'Run "npx pulumi-serverless-gpu emulator exec --help" for the options.',
    ),
  examples: [
    "npx pulumi-serverless-gpu emulator exec -- npm test",
    "npx pulumi-serverless-gpu emulator exec --seed fleet.json -- pulumi up --yes",
    "npx pulumi-serverless-gpu emulator exec --verbose -- bash",
  ],
  exitCodes: {
    0: "the command succeeded",
    1: "the emulator cannot be started; the message gives the reason",
    2: "wrong usage: an unknown option, an invalid value of an option, or no command",
    127: "the command cannot be started",
    "128 + N": "signal N ended the command",
    others: "the exit code of the command",
  },
  problem: (_flags, _words, command) => handlersProblem(execFlags(command)),
  load: () => require("./emulatorExec") as typeof import("./emulatorExec"),
  run: ({ emulatorExec }, _flags, words, command) => emulatorExec(words, execFlags(command)),
});

export const emulatorCommand = declareCommand({
  name: "emulator",
  summary: "Run an emulator of the service on a local port",
  usage:
    "[options]\n       serverless-gpu emulator env [options]\n       serverless-gpu emulator exec [options] -- <command...>",
  description:
    "Runs the emulator until you interrupt it (Ctrl-C), and prints its URL and environment variables. If npx " +
    "or an npm script started it, it also stops when that process ends.",
  options: (command) =>
    addEmulatorFlags(command)
      .option(...JSON_OPTION)
      .allowExcessArguments(),
  examples: [
    "npx pulumi-serverless-gpu emulator",
    "npx pulumi-serverless-gpu emulator --port 8080 --seed fleet.json --data emulator.json",
    "npx pulumi-serverless-gpu emulator --clock manual --json",
    "npx pulumi-serverless-gpu emulator --worker 'llama=python handler.py'",
  ],
  exitCodes: { 0: "interrupted" },
  problem: (flags: EmulatorFlags, [word]) =>
    word === undefined
      ? handlersProblem(flags)
      : `unknown command 'emulator ${word}'.${didYouMean(word, ["env", "exec"])}`,
  load: () => require("./emulator") as typeof import("./emulator"),
  run: ({ emulator }, flags: EmulatorFlags & { readonly json?: boolean }) => emulator(flags),
  subcommands: [envCommand, execCommand],
});

/** Returns the options before and after `exec`. Those after it win. */
function execFlags(command: Command): EmulatorFlags {
  const flags = command.opts<EmulatorFlags>();
  const before = command.parent?.opts<EmulatorFlags>() ?? flags;
  const rateLimits = before.rateLimits && flags.rateLimits;
  return { ...before, ...flags, worker: { ...before.worker, ...flags.worker }, rateLimits };
}

function handlersProblem({ watch, handlers }: EmulatorFlags): string | undefined {
  return watch && handlers === undefined ? "option '--watch' needs '--handlers <folder>'" : undefined;
}
