import { type ParseArgsConfig, parseArgs } from "node:util";
import { nearestWord } from "../sdk/nearestWord";

/** One command of `serverless-gpu`. */
export interface Command {
  /** As it is typed: `emulator exec`. */
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** What `--help` prints. docs/command-line.md holds the same. */
  readonly help: string;
  /** Gets the arguments after the name and returns the exit code. Throws when the command fails as a whole. */
  readonly run: (args: string[]) => Promise<number>;
}

/** Thrown when a command is called in a way that it does not know: exit code 2. */
export class UsageError extends Error {}

/** What every command's help ends with, or begins with where it has exit codes of its own. */
export const EXIT_CODES = `Exit codes:
  0  done
  1  it failed; the message says why
  2  wrong usage: an unknown command or option, or a value that an option does not take`;

type Options = NonNullable<ParseArgsConfig["options"]>;
type Parsed<T extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; options: T; allowPositionals: boolean }>
>;

/** `node:util` parseArgs, with errors for people. Throws a UsageError. */
export function parseOptions<const T extends Options>(args: string[], options: T, allowPositionals = false): Parsed<T> {
  refuseUnknown(args, options, allowPositionals);
  try {
    return parseArgs({ args, options, allowPositionals });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** Not strict, everything parses, and can be told by name. What is wrong with known options is told afterwards. */
function refuseUnknown(args: string[], options: Options, endsWithCommand: boolean): void {
  const known = Object.keys(options);
  const { tokens } = parseArgs({ args, options, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind === "positional" && !endsWithCommand) {
      throw new UsageError(`"${token.value}" belongs to no option, and this command takes options only`);
    }
    if (token.kind !== "option" || known.includes(token.name)) continue;
    const nearest = nearestWord(token.name, [...known, "help"]);
    const ofCommand = endsWithCommand ? ". What belongs to the command comes after --" : "";
    const advice = nearest === undefined ? ofCommand : `. Did you mean --${nearest}?`;
    throw new UsageError(`there is no option ${token.rawName}${advice}`);
  }
}

/** What to say of a word that is none of these. */
export function didYouMean(word: string, words: readonly string[]): string {
  const nearest = nearestWord(word, words);
  return nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
}
