#!/usr/bin/env node
import { ServerlessGpuError } from "../sdk/errors";
import { adopt } from "./adopt/adopt";
import { type Command, didYouMean, EXIT_CODES, UsageError } from "./command";
import { doctor } from "./doctor/doctor";
import { emulator } from "./emulator/emulator";
import { emulatorExec } from "./emulator/emulatorExec";
import { ownPackage } from "./ownPackage";

const commands: readonly Command[] = [adopt, doctor, emulator, emulatorExec];

const help = `Usage: serverless-gpu <command> [options]

Commands:
${commands.map(({ name, summary }) => `  ${name.padEnd(16)} ${summary}`).join("\n")}

Options:
  --help, -h       show this help, or that of the command before it
  --version        show the version

Examples:
  serverless-gpu doctor
  serverless-gpu emulator exec -- npm test
  serverless-gpu adopt --help

${EXIT_CODES}
"emulator exec" hands on the exit code of its command instead.`;

async function main(args: string[]): Promise<number> {
  const [first = "--help", second = ""] = args;
  if (first === "help") return main([...args.slice(1), "--help"]);
  if (first === "--help" || first === "-h") return print(help);
  if (first === "--version") return print(ownPackage().version);
  const command = find(`${first} ${second}`) ?? find(first);
  if (!command || isGroupOf(command, second)) return refuse(command ? `${first} ${second}` : first);
  const rest = args.slice(command.name.split(" ").length);
  if (asksForHelp(rest)) return print(command.help);
  return run(command, rest);
}

function find(name: string): Command | undefined {
  return commands.find((command) => command.name === name);
}

/** Whether the word after a command can only be meant for one of the commands below it. */
function isGroupOf({ name }: Command, word: string): boolean {
  const isWord = word !== "" && !word.startsWith("-");
  return isWord && commands.some((command) => command.name.startsWith(`${name} `));
}

/** What comes after `--` is not ours. */
function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end < 0 ? undefined : end).some((arg) => arg === "--help" || arg === "-h");
}

async function run(command: Command, args: string[]): Promise<number> {
  try {
    return await command.run(args);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`serverless-gpu ${command.name}: ${message}\n`);
    if (error instanceof ServerlessGpuError) {
      process.stderr.write('Run "serverless-gpu doctor" to see whether your set-up is right.\n');
    }
    if (!(error instanceof UsageError)) return 1;
    process.stderr.write(`Run "serverless-gpu ${command.name} --help" for its options.\n`);
    return 2;
  }
}

function refuse(name: string): number {
  const names = commands.map((command) => command.name);
  process.stderr.write(
    `serverless-gpu: there is no command "${name}".${didYouMean(name, names)} ` +
      `There are: ${names.join(", ")}.\nRun "serverless-gpu --help" for what they do.\n`,
  );
  return 2;
}

function print(text: string): number {
  process.stdout.write(`${text}\n`);
  return 0;
}

main(process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode;
});
