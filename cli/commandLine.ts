import { Command, CommanderError } from "commander";
import { adoptCommand } from "./adopt/adoptCommand";
import { alertsCommand } from "./alerts/alertsCommand";
import { batchCommand } from "./batch/batchCommand";
import { checkCommand } from "./check/checkCommand";
import { type DeclaredCommand, exitCodes } from "./declareCommand";
import { doctorCommand } from "./doctor/doctorCommand";
import { emulatorCommand } from "./emulator/emulatorCommand";
import { explainCommand } from "./explain/explainCommand";
import { forecastCommand } from "./forecast/forecastCommand";
import { historyCommand } from "./history/historyCommand";
import { logsCommand } from "./logs/logsCommand";
import { metricsCommand } from "./metrics/metricsCommand";
import { orphansCommand } from "./orphans/orphansCommand";
import { ownPackage } from "./ownPackage";
import { rollbackCommand } from "./rollback/rollbackCommand";
import { scheduleCommand } from "./schedule/scheduleCommand";
import { spendCommand } from "./spend/spendCommand";
import { say } from "./terminal";

/** All commands, in the order of the help. */
const COMMANDS: readonly DeclaredCommand[] = [
  adoptCommand,
  alertsCommand,
  batchCommand,
  checkCommand,
  doctorCommand,
  emulatorCommand,
  explainCommand,
  forecastCommand,
  historyCommand,
  logsCommand,
  metricsCommand,
  orphansCommand,
  rollbackCommand,
  scheduleCommand,
  spendCommand,
];

/** Returns the command line. Its actions set the process's exit code. */
export function commandLine(): Command {
  const program = new Command("serverless-gpu")
    .version(ownPackage().version, "--version", "show the version")
    .helpOption("-h, --help", "show this help")
    .helpCommand(false)
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .showHelpAfterError(
      'Run "npx pulumi-serverless-gpu --help", or a command with --help, for the commands and options.',
    )
    .addHelpText(
      "after",
      `
Examples:
  npx pulumi-serverless-gpu doctor
  npx pulumi-serverless-gpu emulator exec -- npm test
  npx pulumi-serverless-gpu adopt --help
${exitCodes({ 2: "wrong usage: an unknown command or option, or an invalid value of an option" })}
"emulator exec" exits with the exit code of its command instead.`,
    );
  for (const each of COMMANDS) each.addTo(program);
  return program;
}

/** Runs the command line and sets the process's exit code. */
export async function runCommandLine([first = "--help", ...rest]: readonly string[]): Promise<void> {
  try {
    await commandLine().parseAsync(first === "help" ? [...rest, "--help"] : [first, ...rest], { from: "user" });
  } catch (error) {
    process.exitCode = error instanceof CommanderError ? (error.exitCode === 0 ? 0 : 2) : 1;
    if (error instanceof CommanderError) return;
    say(`serverless-gpu: ${error instanceof Error ? error.message : String(error)}`);
    const { ServerlessGpuError } = require("../sdk/errors/errors") as typeof import("../sdk/errors/errors");
    if (!(error instanceof ServerlessGpuError)) return;
    say('Run "npx pulumi-serverless-gpu doctor" to check your setup.');
  }
}
