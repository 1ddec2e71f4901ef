import { type Command, Option } from "commander";
import { API_VARIABLE } from "../sdk/connection/settings";
import { MANAGEMENT_APIS } from "../sdk/contract/limits";

/** A command, with everything that the command line knows about it. */
interface Declaration<Flags extends object, Code> {
  readonly name: string;
  /** One line, for the list of commands. */
  readonly summary: string;
  /** @default what commander derives from the argument and the options */
  readonly usage?: string;
  readonly description: string;
  /** Its name in the usage, such as `<endpoint>`, and its description. */
  readonly argument?: readonly [name: string, description: string];
  /** `true` if the option `--api` selects the management API. */
  readonly hasApi?: boolean;
  /** Adds the other options. */
  readonly options?: (command: Command) => Command;
  /** Paragraphs of the help before the examples. */
  readonly notes?: string;
  readonly examples: readonly string[];
  /** The meaning of exit codes, if it differs from `EXIT_CODES`. */
  readonly exitCodes?: Readonly<Record<string, string>>;
  /** Returns an error message if the options and arguments do not go together. */
  readonly problem?: (flags: Flags, words: readonly string[], command: Command) => string | undefined;
  /**
   * Loads the command's code. This is done only when the command runs, because it takes five times
   * as long as loading the command line itself.
   */
  readonly load: () => Code;
  /** Runs the command, and returns the exit code. `flags` includes those of the parent command. */
  readonly run: (code: Code, flags: Flags, words: readonly string[], command: Command) => Promise<number>;
  readonly subcommands?: readonly DeclaredCommand[];
}

/** A command that can be added to the command line. */
export interface DeclaredCommand {
  readonly name: string;
  readonly subcommands: readonly DeclaredCommand[];
  addTo(parent: Command): void;
}

const EXIT_CODES = {
  0: "success",
  1: "failure; the message gives the reason",
  2: "wrong usage: an unknown option, or an invalid value of an option",
};

/** Returns the part of a help text that lists the exit codes. */
export function exitCodes(own: HelpEnd["exitCodes"] = {}): string {
  const codes = Object.entries({ ...EXIT_CODES, ...own });
  const width = Math.max(...codes.map(([code]) => code.length));
  return ["\nExit codes:", ...codes.map(([code, meaning]) => `  ${code.padEnd(width)}  ${meaning}`)].join("\n");
}

/** Declares a command. Its action sets the process's exit code. */
export function declareCommand<Flags extends object, Code>(of: Declaration<Flags, Code>): DeclaredCommand {
  const { name, subcommands = [], options = (command) => command, problem, load, run } = of;
  return {
    name,
    subcommands,
    addTo(parent) {
      const command = parent.command(name).summary(of.summary).description(of.description);
      if (of.usage !== undefined) command.usage(of.usage);
      if (of.argument !== undefined) command.argument(...of.argument);
      if (of.hasApi) command.addOption(apiOption());
      options(command)
        .addHelpText("after", helpEnd(of))
        .action(async () => {
          const flags = command.optsWithGlobals<Flags>();
          const message = problem?.(flags, command.args, command);
          if (message !== undefined) command.error(`error: ${message}`);
          process.exitCode = await run(load(), flags, command.args, command);
        });
      for (const each of subcommands) each.addTo(command);
    },
  };
}

type HelpEnd = Pick<Declaration<object, unknown>, "notes" | "examples" | "exitCodes">;

function helpEnd({ notes, examples, exitCodes: own }: HelpEnd): string {
  const before = notes === undefined ? [] : ["", notes];
  return [...before, "", "Examples:", ...examples.map((each) => `  ${each}`), exitCodes(own)].join("\n");
}

function apiOption(): Option {
  return new Option(
    "--api <name>",
    `the API, instead of ${API_VARIABLE}, the selected stack's config and Pulumi.yaml`,
  ).choices(MANAGEMENT_APIS);
}
