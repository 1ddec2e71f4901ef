/** A command as its words, without what was assigned or redirected. Quoted words are `"…"`. */
export type Command = readonly string[];

/** Every command of a block of shell, those within others among them. */
export function commandsIn(text: string): Command[] {
  const joined = text.replace(/\\\n/g, " ");
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
    .trim()
    .split(/\s+/)
    .filter((word) => word !== "");
  const start = words.findIndex((word) => !/^[A-Z_]+=/.test(word));
  return start < 0 ? [] : words.slice(start);
}

/** `a b -- c d` is two commands: what comes after the dashes is run by the first. Not so for npm, whose scripts get it. */
function afterDashes(words: readonly string[]): Command[] {
  const dashes = words.indexOf("--");
  if (dashes < 0 || words[0] === "npm") return [words];
  return [words.slice(0, dashes), words.slice(dashes + 1)];
}

/** What a command's `--help` says that there is. */
export interface Help {
  /** Its subcommands, of which one may have two words. */
  readonly commands: readonly string[];
  readonly options: readonly string[];
}

/** A heading such as `Deployment Commands:`, and the lines below it. */
const COMMANDS = /^(?:\w+ )*Commands:\n((?: +.*\n)*)/gm;

/** Reads the help of Pulumi, and that of `serverless-gpu`. */
export function parseHelp(text: string): Help {
  const lists = [...text.matchAll(COMMANDS)].map(([, list = ""]) => list).join("");
  return {
    commands: [...lists.matchAll(/^ {2}([a-z][\w-]*(?: [a-z][\w-]*)?) +[A-Z]/gm)].map(([, name = ""]) => name),
    options: [...text.matchAll(/(?<![\w-])--?[a-zA-Z][\w-]*/g)].map(([option]) => option),
  };
}

/**
 * What is wrong with a command, by its own help.
 * @param helpOf the help of a subcommand, by its words
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
