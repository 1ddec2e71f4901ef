/** The words of a command, without assignments and redirections. Quoted words are `"…"`. */
export type Command = readonly string[];

/**
 * Returns all commands of a shell block, including nested ones. The text between `<<'END'` and
 * `END` has none.
 */
export function commandsIn(text: string): Command[] {
  const joined = text.replace(/<<'(\w+)'\n.*?\n\1$/gms, "").replace(/\\\n/g, " ");
  const inner: string[] = [];
  const outer = joined.replace(/\$\(([^()]*)\)/g, (_, command: string) => {
    inner.push(command);
    return "…";
  });
  const commands = outer
    .replace(/'[^']*'|"[^"]*"/g, '"…"')
    .replace(/(^|\s)#.*$/gm, "")
    .split(/&&|\|\||[|;\n]/)
    .map(wordsOf);
  return [...commands, ...inner.flatMap(commandsIn)].filter((words) => words.length > 0).flatMap(afterDashes);
}

function wordsOf(command: string): string[] {
  const words = command
    .replace(/[<>]+\s*\S+/g, "")
    .replace(/^[\s({]+/, "")
    .trim()
    .split(/\s+/)
    .filter((word) => word !== "");
  const start = words.findIndex((word) => !/^[A-Z_]+=/.test(word));
  return start < 0 ? [] : words.slice(start);
}

/**
 * Splits `a b -- c d` into two commands, because the first one runs the second. npm passes the
 * words to its scripts instead.
 */
function afterDashes(words: readonly string[]): Command[] {
  const dashes = words.indexOf("--");
  if (dashes < 0 || words[0] === "npm") return [words];
  return [words.slice(0, dashes), words.slice(dashes + 1)];
}

/** The commands and options that `--help` prints. */
export interface Help {
  /** The subcommands. A subcommand may have two words. */
  readonly commands: readonly string[];
  readonly options: readonly string[];
}

/** A heading such as `Deployment Commands:`, and the lines below it. */
const COMMANDS = /^(?:\w+ )*Commands:\n((?: +.*\n)*)/gm;

/** Parses the help of Pulumi and of `serverless-gpu`. */
export function parseHelp(text: string): Help {
  const lists = [...text.matchAll(COMMANDS)].map(([, list = ""]) => list).join("");
  return {
    commands: [...lists.matchAll(/^ {2}([a-z][\w-]*(?: [a-z][\w-]*)?) +[A-Z]/gm)].map(([, name = ""]) => name),
    options: [...text.matchAll(/(?<![\w-])--?[a-zA-Z][\w-]*/g)].map(([option]) => option),
  };
}

/**
 * Returns the problem of a command according to its help, or `undefined` if there is none.
 * @param helpOf returns the help of a subcommand, by its words
 */
export async function problemWith(
  [name = "", ...words]: Command,
  helpOf: (path: readonly string[]) => Promise<Help>,
): Promise<string | undefined> {
  let path: string[] = [];
  for (;;) {
    const { commands, options } = await helpOf(path);
    const rest = words.slice(path.length);
    const next = commands.filter((command) => `${rest.join(" ")} `.startsWith(`${command} `)).sort(byLength)[0];
    if (next !== undefined) {
      path = [...path, ...next.split(" ")];
      continue;
    }
    const [first = ""] = rest;
    if (commands.length > 0 && first !== "" && !first.startsWith("-"))
      return `${[name, ...path].join(" ")} has no command ${first}`;
    const unknown = rest
      .map((word) => word.split("=")[0] ?? "")
      .find((word) => /^--?\w/.test(word) && !options.includes(word));
    return unknown && `${[name, ...path].join(" ")} has no option ${unknown}`;
  }
}

function byLength(one: string, other: string): number {
  return other.length - one.length;
}
