import { Command, CommanderError, Option } from "commander";
import { API_VARIABLE } from "../sdk/config";
import { MANAGEMENT_APIS } from "../sdk/contract/limits";
import type { AdoptFlags } from "./adopt/adopt";
import { didYouMean } from "./didYouMean";
import { addEmulatorFlags, type EmulatorFlags, wholeNumber } from "./emulator/emulatorFlags";
import type { ExplainFlags } from "./explain/explain";
import { addExplainFlags, explainProblem } from "./explain/explainFlags";
import { addForecastFlags, type ForecastFlags } from "./forecast/forecastFlags";
import type { HistoryFlags } from "./history/history";
import { addHistoryFlags } from "./history/historyFlags";
import type { LogsFlags } from "./logs/logs";
import { addLogsFlags } from "./logs/logsFlags";
import type { OrphansFlags } from "./orphans/orphans";
import { addOrphansFlags } from "./orphans/orphansFlags";
import { ownPackage } from "./ownPackage";
import type { ReviewFlags } from "./review/review";
import { addReviewFlags, reviewProblem } from "./review/reviewFlags";
import type { RollbackFlags } from "./rollback/rollback";
import { addRollbackFlags } from "./rollback/rollbackFlags";
import type { VerifyFlags } from "./verifyService/verifyService";

/** The end of each command's help, unless the command has its own exit codes. */
const EXIT_CODES = `
Exit codes:
  0  success
  1  failure; the message gives the reason
  2  wrong usage: an unknown command or option, or an invalid value of an option`;

/**
 * Loads a command's code only when the command runs: loading it takes five times as long as loading
 * the command line.
 */
const load = {
  adopt: () => require("./adopt/adopt") as typeof import("./adopt/adopt"),
  doctor: () => require("./doctor/doctor") as typeof import("./doctor/doctor"),
  emulator: () => require("./emulator/emulator") as typeof import("./emulator/emulator"),
  emulatorEnv: () => require("./emulator/emulatorEnv") as typeof import("./emulator/emulatorEnv"),
  emulatorExec: () => require("./emulator/emulatorExec") as typeof import("./emulator/emulatorExec"),
  explain: () => require("./explain/explain") as typeof import("./explain/explain"),
  forecast: () => require("./forecast/forecast") as typeof import("./forecast/forecast"),
  history: () => require("./history/history") as typeof import("./history/history"),
  logs: () => require("./logs/logs") as typeof import("./logs/logs"),
  orphans: () => require("./orphans/orphans") as typeof import("./orphans/orphans"),
  review: () => require("./review/review") as typeof import("./review/review"),
  rollback: () => require("./rollback/rollback") as typeof import("./rollback/rollback"),
  verifyService: () => require("./verifyService/verifyService") as typeof import("./verifyService/verifyService"),
};

/** Returns the command line. Its actions set the exit code of the process. */
function commandLine(): Command {
  const program = new Command("serverless-gpu")
    .version(ownPackage().version, "--version", "show the version")
    .helpOption("-h, --help", "show this help")
    .helpCommand(false)
    .hook("preAction", (_, command) => {
      const { api } = command.opts<{ readonly api?: string }>();
      if (api !== undefined) process.env[API_VARIABLE] = api;
    })
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .showHelpAfterError('Run "serverless-gpu --help", or a command with --help, for the commands and options.')
    .addHelpText(
      "after",
      `
Examples:
  serverless-gpu doctor
  serverless-gpu emulator exec -- npm test
  serverless-gpu adopt --help
${EXIT_CODES}
"emulator exec" exits with the exit code of its command instead.`,
    );
  addAdopt(program);
  addDoctor(program);
  addEmulator(program);
  addExplain(program);
  addForecast(program);
  addHistory(program);
  addLogs(program);
  addOrphans(program);
  addReview(program);
  addRollback(program);
  addVerifyService(program);
  return program;
}

/** Returns the option that chooses the management interface. */
function apiOption(): Option {
  return new Option("--api <name>", `the management interface, instead of ${API_VARIABLE}`).choices(MANAGEMENT_APIS);
}

function addAdopt(program: Command): void {
  program
    .command("adopt")
    .summary("Write a Pulumi program that adopts the account's endpoints")
    .description(
      "Writes a Pulumi program (TypeScript) that adopts the account's endpoints without changing them, to standard " +
        "output. The command itself changes nothing. The key and the URLs come from the environment: " +
        "SERVERLESS_GPU_API_KEY, and SERVERLESS_GPU_SERVICE=runpod or SERVERLESS_GPU_GRAPHQL_URL. With --from, the program " +
        "comes from the state of another provider for RunPod instead, and neither a key nor the service is needed.",
    )
    .addOption(apiOption())
    .addOption(
      new Option("--from <state>", "the exported state of another Pulumi or Terraform provider for RunPod").conflicts(
        "all",
      ),
    )
    .option("--import-file", 'with --from: write the file for "pulumi import --file", for the plugin and any language')
    .option("--filter <text>", "only endpoints with this text in their name, ignoring case")
    .option("--all", "also the serverless templates (without their variables) and the network volumes")
    .option("--out <file>", "write to this new file instead, and create none if the command fails")
    .addHelpText(
      "after",
      `
Examples:
  serverless-gpu adopt --out index.ts
  serverless-gpu adopt --filter llama --out llama.ts
  serverless-gpu adopt --all > index.ts
  serverless-gpu adopt --from state.json --out index.ts
  serverless-gpu adopt --from state.json --import-file > import.json
${EXIT_CODES}
It is also 1 if the program leaves something out; standard error names it, and says why.`,
    )
    .action(async (options: AdoptFlags, command: Command) => {
      if (options.importFile && options.from === undefined)
        command.error("error: option '--import-file' needs '--from <state>'");
      process.exitCode = await load.adopt().adopt(options);
    });
}

function addDoctor(program: Command): void {
  program
    .command("doctor")
    .summary("Check the setup, and say what is wrong and how to fix it")
    .description(
      "Finds what keeps the provider from working, and says how to fix it. Run it in the folder of your Pulumi program. " +
        "It changes nothing. It tries the key with one harmless query, and never shows it.",
    )
    .addOption(apiOption())
    .option("--json", 'print one JSON object: {"version", "ok", "checks": [{"check", "status", "found", "fix"}]}')
    .addHelpText(
      "after",
      `
Checks:
  node         the version of Node.js
  pulumi       the Pulumi CLI on PATH, and its version
  pulumi-sdk   @pulumi/pulumi, loaded from the program's folder, and its version
  package      pulumi-serverless-gpu is a direct dependency of the program, because state names it
  config       the key and the service are set, in the environment or the stack's config; no name is misspelled
  addresses    the URLs are well formed, encrypted unless local, and respond
  interface    the service does not end the management interface soon
  key          the service accepts the key
  names        no two endpoints, and no two network volumes of a data center, have the same name
  clock        this machine's clock is within a minute of the service's clock
  versions     the program and this command have the same version, and nothing is installed twice
  state        this version can read the state of the selected stack, and its endpoints can start (service runpod)

With --json, the status is ok, warning, failed or skipped. Warnings and failures have "fix".

Examples:
  serverless-gpu doctor
  serverless-gpu doctor --json | jq '.checks[] | select(.status == "failed")'

Exit codes:
  0  no check failed; there may be warnings
  1  a check failed
  2  wrong usage: an unknown option`,
    )
    .action(async (options: { json?: boolean }) => {
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
      "Runs the emulator until you interrupt it (Ctrl-C), and prints its URL and the environment variables for it. If npx " +
        "or an npm script started it, it also stops when that process ends.",
    )
    .option("--json", 'print one line of JSON instead: {"url", "env"}')
    .allowExcessArguments()
    .addHelpText(
      "after",
      `
Examples:
  serverless-gpu emulator
  serverless-gpu emulator --port 8080 --seed fleet.json --data emulator.json
  serverless-gpu emulator --clock manual --profile observed --json
  serverless-gpu emulator --profile observed --worker 'llama=python handler.py'
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
    .option("--port <n>", "the emulator's port, if several are running", wholeNumber(65_535))
    .option("--json", 'print one line of JSON instead: {"url", "env"}')
    .addHelpText(
      "after",
      `
Examples:
  eval "$(serverless-gpu emulator env)"
  serverless-gpu emulator env --port 8080 --json
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
      "Put -- before the command and its arguments, as in: serverless-gpu emulator exec -- npm test\n" +
        'Run "serverless-gpu emulator exec --help" for the options.',
    )
    .addHelpText(
      "after",
      `
Examples:
  serverless-gpu emulator exec -- npm test
  serverless-gpu emulator exec --seed fleet.json -- pulumi up --yes
  serverless-gpu emulator exec --verbose -- bash

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

function addForecast(program: Command): void {
  addForecastFlags(program.command("forecast"))
    .summary("Forecast delay and cost of an endpoint's settings under a load")
    .description(
      "Plays a load against an endpoint's settings with the emulator's scheduler in virtual time, and prints how long " +
        "jobs wait and what it costs, as ranges over several runs. It calls no service and changes nothing. With --stack and " +
        "--program, it runs Pulumi to export the state and to preview the program.",
    )
    .addHelpText(
      "after",
      `
Files for --load (recognized by the header):
  arrival_s,duration_s                      one job per line, in order of arrival
  minute,jobs                               the number of jobs in each minute; needs --duration
  [{"operation": "run", …}]                 an emulator's journal; needs --duration

Settings for --set and --sweep, with their defaults:
  scalerType=QUEUE_DELAY scalerValue=4 workersMin=0 workersMax=3 idleTimeout=10 gpuIds=AMPERE_24 gpuCount=1 flashBoot=off

Examples:
  serverless-gpu forecast --load jobs.csv --stack dev
  serverless-gpu forecast --load jobs.csv --stack dev --program --max-p95 10s --max-cost 50/month
  serverless-gpu forecast --generate poisson:3/s --duration 2s..4s --set workersMax=20 --sweep workersMin=0..3 scalerValue=1,2,4

Exit codes:
  0  success
  1  failure; the message gives the reason
  2  wrong usage: an unknown option, an invalid value of an option, or not exactly one load
  3  a limit of --max-p95, --max-cost or --max-lost can be exceeded`,
    )
    .action(async (flags: ForecastFlags, command: Command) => {
      const { forecast, loadProblem } = load.forecast();
      const problem = loadProblem(flags);
      if (problem !== undefined) command.error(`error: ${problem}`);
      process.exitCode = await forecast(flags);
    });
}

function addOrphans(program: Command): void {
  addOrphansFlags(program.command("orphans"))
    .addOption(apiOption())
    .action(async (flags: OrphansFlags) => {
      process.exitCode = await load.orphans().orphans(flags, ownPackage().version);
    });
}

function addReview(program: Command): void {
  addReviewFlags(program.command("review")).action(
    async (file: string | undefined, flags: ReviewFlags, command: Command) => {
      const problem = reviewProblem(file, flags.stack);
      if (problem !== undefined) command.error(`error: ${problem}`);
      process.exitCode = await load.review().review(file, flags, ownPackage().version);
    },
  );
}

function addVerifyService(program: Command): void {
  program
    .command("verify-service")
    .summary("Compare the service with the emulator, rule by rule")
    .description(
      "Plays rules of the emulator against the service, with your key, and reports which of them the service follows. " +
        "First it says what it creates and what that can cost, and asks for confirmation. It creates one endpoint that " +
        "scales to zero, and always deletes it. The key and the URLs come from the environment: SERVERLESS_GPU_API_KEY, and " +
        "SERVERLESS_GPU_SERVICE=runpod or all three SERVERLESS_GPU_*_URL.",
    )
    .requiredOption("--template <id>", "the endpoint's serverless template; it is not changed")
    .option("--yes", "do not ask for confirmation; needed where there is no terminal")
    .option("--run-jobs", "also run one job on one worker, which costs GPU time")
    .option("--gpu <tier>", "the GPU tier of the endpoint", "AMPERE_16")
    .addOption(
      new Option("--profile <name>", "the emulator profile to compare with")
        .choices(["contract", "observed"])
        .default("observed"),
    )
    .option("--output <file>", "the JSON file to create for the transcript", "verify-service.json")
    .addHelpText(
      "after",
      `
Standard output shows the transcript as a table. It contains no keys, no ids and nothing about your other endpoints.

Examples:
  serverless-gpu verify-service --template abc123
  serverless-gpu verify-service --template abc123 --run-jobs --gpu ADA_24 --yes --output after.json

Exit codes:
  0  the service matched the emulator in every rule that was played, and the endpoint was deleted
  1  a rule differs, the run is not complete, you did not confirm, or the endpoint could not be deleted: the message has
     its id, and says how to delete it
  2  wrong usage: an unknown option, no --template, or no --yes where there is no terminal`,
    )
    .action(async (flags: VerifyFlags, command: Command) => {
      if (!flags.yes && !process.stdin.isTTY)
        command.error(
          "error: there is no terminal to ask for confirmation: read what the command does, then add --yes.",
        );
      process.exitCode = await load.verifyService().verifyService(flags);
    });
}

/** Runs the command line, and sets the exit code of the process. */
export async function runCommandLine([first = "--help", ...rest]: readonly string[]): Promise<void> {
  try {
    await commandLine().parseAsync(first === "help" ? [...rest, "--help"] : [first, ...rest], { from: "user" });
  } catch (error) {
    process.exitCode = error instanceof CommanderError ? (error.exitCode === 0 ? 0 : 2) : 1;
    if (error instanceof CommanderError) return;
    process.stderr.write(`serverless-gpu: ${error instanceof Error ? error.message : String(error)}\n`);
    const { ServerlessGpuError } = require("../sdk/errors") as typeof import("../sdk/errors");
    if (!(error instanceof ServerlessGpuError)) return;
    process.stderr.write('Run "serverless-gpu doctor" to check your setup.\n');
  }
}
