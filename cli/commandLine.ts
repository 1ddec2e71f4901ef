import { Command, CommanderError, Option } from "commander";
import { API_VARIABLE } from "../sdk/connection/settings";
import { MANAGEMENT_APIS } from "../sdk/contract/limits";
import type { AdoptFlags } from "./adopt/adopt";
import { addAdoptFlags } from "./adopt/adoptFlags";
import { type AlertsFlags, type AlertsTestFlags, addAlertsFlags, addAlertsTestFlags } from "./alerts/alertsFlags";
import { addBatchFlags, type BatchFlags, batchProblem } from "./batch/batchFlags";
import { addCheckFlags, type CheckFlags, checkProblem } from "./check/checkFlags";
import { didYouMean } from "./didYouMean";
import type { DoctorFlags } from "./doctor/doctor";
import { addDoctorFlags } from "./doctor/doctorFlags";
import { addEmulatorFlags, type EmulatorFlags, wholeNumberOption } from "./emulator/emulatorFlags";
import { EXIT_CODES } from "./exitCodes";
import type { ExplainFlags } from "./explain/explain";
import { addExplainFlags, explainProblem } from "./explain/explainFlags";
import { addForecastFlags, type ForecastFlags } from "./forecast/forecastFlags";
import type { HistoryFlags } from "./history/history";
import { addHistoryFlags } from "./history/historyFlags";
import type { LogsFlags } from "./logs/logs";
import { addLogsFlags } from "./logs/logsFlags";
import { addMetricsFlags, type MetricsFlags, metricsProblem } from "./metrics/metricsFlags";
import type { OrphansFlags } from "./orphans/orphans";
import { addOrphansFlags } from "./orphans/orphansFlags";
import { ownPackage } from "./ownPackage";
import type { RollbackFlags } from "./rollback/rollback";
import { addRollbackFlags } from "./rollback/rollbackFlags";
import { addScheduleFlags, type ScheduleFlags } from "./schedule/scheduleFlags";
import { say } from "./terminal";

/**
 * Loads a command's code only when the command runs, because that takes five times as long as
 * loading the command line itself.
 */
const load = {
  adopt: () => require("./adopt/adopt") as typeof import("./adopt/adopt"),
  batch: () => require("./batch/batch") as typeof import("./batch/batch"),
  alerts: () => require("./alerts/alerts") as typeof import("./alerts/alerts"),
  alertsTest: () => require("./alerts/alertsTest") as typeof import("./alerts/alertsTest"),
  check: () => require("./check/check") as typeof import("./check/check"),
  doctor: () => require("./doctor/doctor") as typeof import("./doctor/doctor"),
  emulator: () => require("./emulator/emulator") as typeof import("./emulator/emulator"),
  emulatorEnv: () => require("./emulator/emulatorEnv") as typeof import("./emulator/emulatorEnv"),
  emulatorExec: () => require("./emulator/emulatorExec") as typeof import("./emulator/emulatorExec"),
  explain: () => require("./explain/explain") as typeof import("./explain/explain"),
  forecast: () => require("./forecast/forecast") as typeof import("./forecast/forecast"),
  history: () => require("./history/history") as typeof import("./history/history"),
  logs: () => require("./logs/logs") as typeof import("./logs/logs"),
  metrics: () => require("./metrics/metrics") as typeof import("./metrics/metrics"),
  orphans: () => require("./orphans/orphans") as typeof import("./orphans/orphans"),
  rollback: () => require("./rollback/rollback") as typeof import("./rollback/rollback"),
  schedule: () => require("./schedule/schedule") as typeof import("./schedule/schedule"),
};

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
${EXIT_CODES}
"emulator exec" exits with the exit code of its command instead.`,
    );
  addAdopt(program);
  addAlerts(program);
  addBatch(program);
  addCheck(program);
  addDoctor(program);
  addEmulator(program);
  addExplain(program);
  addForecast(program);
  addHistory(program);
  addLogs(program);
  addMetrics(program);
  addOrphans(program);
  addRollback(program);
  addSchedule(program);
  return program;
}

/** Returns the option that selects the management API. */
function apiOption(): Option {
  return new Option(
    "--api <name>",
    `the API, instead of ${API_VARIABLE}, the selected stack's config and Pulumi.yaml`,
  ).choices(MANAGEMENT_APIS);
}

function addAdopt(program: Command): void {
  addAdoptFlags(program.command("adopt").addOption(apiOption())).action(
    async (options: AdoptFlags, command: Command) => {
      if (options.importFile && options.from === undefined)
        command.error("error: option '--import-file' needs '--from <state>'");
      process.exitCode = await load.adopt().adopt(options);
    },
  );
}

function addBatch(program: Command): void {
  addBatchFlags(program.command("batch").addOption(apiOption())).action(
    async (endpoint: string | undefined, flags: BatchFlags, command: Command) => {
      const problem = batchProblem(endpoint, flags);
      if (problem !== undefined) command.error(`error: ${problem}`);
      process.exitCode = await load.batch().batch(endpoint ?? "", flags);
    },
  );
}

function addAlerts(program: Command): void {
  const alerts = addAlertsFlags(program.command("alerts")).action(async (flags: AlertsFlags) => {
    process.exitCode = await load.alerts().alerts(flags);
  });
  addAlertsTestFlags(alerts.command("test").addOption(apiOption())).action(async (_flags: object, command: Command) => {
    // Options that both commands accept may appear before or after the subcommand.
    process.exitCode = await load.alertsTest().alertsTest(command.optsWithGlobals<AlertsTestFlags>());
  });
}

function addCheck(program: Command): void {
  addCheckFlags(program.command("check")).action(
    async (file: string | undefined, flags: CheckFlags, command: Command) => {
      const problem = checkProblem(file, flags);
      if (problem !== undefined) command.error(`error: ${problem}`);
      process.exitCode = await load.check().check(file, flags, ownPackage().version);
    },
  );
}

function addDoctor(program: Command): void {
  addDoctorFlags(program.command("doctor").addOption(apiOption())).action(async (options: DoctorFlags) => {
    process.exitCode = await load.doctor().doctor(options);
  });
}

function addEmulator(program: Command): void {
  const emulator = addEmulatorFlags(program.command("emulator"))
    .summary("Run an emulator of the service on a local port")
    .usage(
      "[options]\n       serverless-gpu emulator env [options]\n       serverless-gpu emulator exec [options] -- <command...>",
    )
    .description(
      "Runs the emulator until you interrupt it (Ctrl-C), and prints its URL and environment variables. If npx " +
        "or an npm script started it, it also stops when that process ends.",
    )
    .option("--json", 'print one line of JSON instead: {"url", "env"}')
    .allowExcessArguments()
    .addHelpText(
      "after",
      `
Examples:
  npx pulumi-serverless-gpu emulator
  npx pulumi-serverless-gpu emulator --port 8080 --seed fleet.json --data emulator.json
  npx pulumi-serverless-gpu emulator --clock manual --profile observed --json
  npx pulumi-serverless-gpu emulator --profile observed --worker 'llama=python handler.py'
${EXIT_CODES}
An interruption is a success.`,
    )
    .action(async (flags: EmulatorFlags & { json?: boolean }, command: Command) => {
      const [word] = command.args;
      if (word !== undefined)
        command.error(`error: unknown command 'emulator ${word}'.${didYouMean(word, ["env", "exec"])}`);
      if (flags.watch && flags.handlers === undefined) command.error(WATCH_ALONE);
      process.exitCode = await load.emulator().emulator(flags);
    });
  addEmulatorEnv(emulator);
  addEmulatorExec(emulator);
}

const WATCH_ALONE = "error: option '--watch' needs '--handlers <folder>'";

function addEmulatorEnv(emulator: Command): void {
  emulator
    .command("env")
    .summary("Print the environment of a running emulator")
    .usage("[options]")
    .description(
      "Prints the environment variables for an emulator that you started in another shell on this machine, or with exec.",
    )
    .option("--port <n>", "the emulator's port, if several are running", wholeNumberOption(65_535))
    .option("--json", 'print one line of JSON instead: {"url", "env"}')
    .addHelpText(
      "after",
      `
Examples:
  eval "$(npx pulumi-serverless-gpu emulator env)"
  npx pulumi-serverless-gpu emulator env --port 8080 --json
${EXIT_CODES}
It is also 1 if no emulator is running, or if several are and --port is missing.`,
    )
    .action(async (_options: object, command: Command) => {
      const flags = command.optsWithGlobals<{ port?: number; json?: boolean }>();
      process.exitCode = await load.emulatorEnv().emulatorEnv(flags);
    });
}

function addEmulatorExec(emulator: Command): void {
  addEmulatorFlags(emulator.command("exec"))
    .summary("Run a command with its own emulator")
    .usage("[options] -- <command...>")
    .description(
      "Starts an emulator, runs the command with its environment, and stops it when the command ends. With a shell as " +
        "the command, such as bash, you can type commands that use the emulator.",
    )
    .argument("<command...>", "the command and its arguments")
    .showHelpAfterError(
      "Put -- before the command and its arguments, as in: npx pulumi-serverless-gpu emulator exec -- npm test\n" +
        'Run "npx pulumi-serverless-gpu emulator exec --help" for the options.',
    )
    .addHelpText(
      "after",
      `
Examples:
  npx pulumi-serverless-gpu emulator exec -- npm test
  npx pulumi-serverless-gpu emulator exec --seed fleet.json -- pulumi up --yes
  npx pulumi-serverless-gpu emulator exec --verbose -- bash

Exit codes:
  the exit code of the command, if it ran
  128 + N  signal N ended the command
  127      the command cannot be started
  1        the emulator cannot be started; the message gives the reason
  2        wrong usage: an unknown option, an invalid value of an option, or no command`,
    )
    .action(async (words: string[], flags: EmulatorFlags, command: Command) => {
      const before = emulator.opts<EmulatorFlags>();
      const worker = { ...before.worker, ...flags.worker };
      const all = { ...before, ...flags, worker, rateLimits: before.rateLimits && flags.rateLimits };
      if (all.watch && all.handlers === undefined) command.error(WATCH_ALONE);
      process.exitCode = await load.emulatorExec().emulatorExec(words, all);
    });
}

function addExplain(program: Command): void {
  addExplainFlags(program.command("explain").addOption(apiOption())).action(
    async (endpoint: string | undefined, flags: ExplainFlags, command: Command) => {
      const problem = explainProblem(endpoint, flags.stack);
      if (problem !== undefined) command.error(`error: ${problem}`);
      process.exitCode = await load.explain().explain(endpoint, flags, ownPackage().version);
    },
  );
}

function addLogs(program: Command): void {
  addLogsFlags(program.command("logs").addOption(apiOption())).action(async (endpoint: string, flags: LogsFlags) => {
    process.exitCode = await load.logs().logs(endpoint, flags);
  });
}

function addHistory(program: Command): void {
  addHistoryFlags(program.command("history").addOption(apiOption())).action(
    async (endpoint: string, flags: HistoryFlags) => {
      process.exitCode = await load.history().history(endpoint, flags);
    },
  );
}

function addRollback(program: Command): void {
  addRollbackFlags(program.command("rollback").addOption(apiOption())).action(
    async (endpoint: string, flags: RollbackFlags) => {
      process.exitCode = await load.rollback().rollback(endpoint, flags);
    },
  );
}

function addSchedule(program: Command): void {
  addScheduleFlags(program.command("schedule")).action(async (file: string | undefined, flags: ScheduleFlags) => {
    process.exitCode = await load.schedule().schedule(file, flags);
  });
}

function addForecast(program: Command): void {
  addForecastFlags(program.command("forecast")).action(async (flags: ForecastFlags, command: Command) => {
    const { forecast, loadProblem } = load.forecast();
    const problem = loadProblem(flags);
    if (problem !== undefined) command.error(`error: ${problem}`);
    process.exitCode = await forecast(flags);
  });
}

function addMetrics(program: Command): void {
  addMetricsFlags(program.command("metrics").addOption(apiOption())).action(
    async (flags: MetricsFlags, command: Command) => {
      const problem = metricsProblem(flags);
      if (problem !== undefined) command.error(`error: ${problem}`);
      process.exitCode = await load.metrics().metrics(flags, ownPackage().version);
    },
  );
}

function addOrphans(program: Command): void {
  addOrphansFlags(program.command("orphans"))
    .addOption(apiOption())
    .action(async (flags: OrphansFlags) => {
      process.exitCode = await load.orphans().orphans(flags, ownPackage().version);
    });
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
