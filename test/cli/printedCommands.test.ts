import type { Command } from "commander";
import { commandLine } from "../../cli/commandLine";
import { messages, pageCode, type Text } from "../support/messages";

// Parses every command of this package that a message, a help text or a page shows with the real
// parser, so that each one can be pasted. test/pulumi/documentedCommands does so for Pulumi's.

const NAMES = commandLine().commands.map((command) => command.name());
const OWN = new RegExp(`(\\S+ )?(?<![\\w/@-])((?:pulumi-)?serverless-gpu) (${NAMES.join("|")})\\b([^\\n]*)`, "g");
/** Matches a word after which a sentence goes on. */
const PROSE =
  /^(?:and|as|before|by|compares|exports|from|in|into|lists|of|on|or|prints|runs|shows|so|that|then|there|to|when|which|with|wrote|again|first|finds|names|looks|reads|does|is|has)$/;

interface Printed {
  readonly place: string;
  readonly before: string;
  readonly name: string;
  readonly words: readonly string[];
  readonly end: string;
}

/** Returns the commands in a text. */
function commandsIn({ place, text }: Text): Printed[] {
  return [...text.matchAll(OWN)].flatMap(([, before = "", name = "", command = "", rest = ""]) => {
    // A colon follows the name of the command that reports something.
    if (/^ ?[\w ]*: /.test(rest) || rest.includes("[options]")) return [];
    const [own = ""] = rest
      .replace(/'[^']*=[^']*'|"[^"]*=[^"]*"/g, "name=value")
      .split(/[`"();|>&]|\s#|: |, |\. |\s--\s|\s…/);
    const words: string[] = [];
    for (const word of own.trim().split(/\s+/).filter(Boolean)) {
      if (PROSE.test(word)) break;
      words.push(word);
    }
    const end = words.at(-1) ?? command;
    return [
      {
        place,
        before: before.trim(),
        name,
        words: [command, ...words.map((word) => word.replace(/[.,:']$/, ""))],
        end,
      },
    ];
  });
}

/** Matches a command of another tool after a colon, to the end of its line. */
const AFTER_COLON = /: ((?:pulumi|npm|eval|export|terraform|tofu) [^\n]*)/g;

/** Returns why the real parser refuses a command. */
function refusalOf(words: readonly string[]): string | undefined {
  const program = commandLine();
  const quiet = (command: Command): void => {
    command
      .exitOverride()
      .configureOutput({ writeErr: () => {}, writeOut: () => {} })
      .action(() => {});
    command.commands.forEach(quiet);
  };
  quiet(program);
  const isExec = words[1] === "exec";
  try {
    program.parse([...words, ...(isExec ? ["--", "true"] : [])], { from: "user" });
    return undefined;
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return code === "commander.helpDisplayed" ? undefined : message;
  }
}

const PRINTED = messages().flatMap(commandsIn);
const ON_PAGES = pageCode().flatMap(commandsIn);

test("The messages, help texts and pages show commands.", () => {
  expect(PRINTED.length).toBeGreaterThan(50);
  expect(ON_PAGES.length).toBeGreaterThan(50);
});

test("Every command in a message or a page is one that the parser accepts, with all its arguments.", () => {
  const refused = [...PRINTED, ...ON_PAGES].flatMap(({ place, words }) => {
    const refusal = refusalOf(words);
    return refusal === undefined ? [] : [`${place}: ${words.join(" ")}: ${refusal}`];
  });
  expect([...new Set(refused)]).toEqual([]);
});

test("Every command in a message begins with npx and the name of the package.", () => {
  const others = PRINTED.filter(({ before, name }) => !before.endsWith("npx") || name !== "pulumi-serverless-gpu");
  expect(others.map(({ place, words }) => `${place}: ${words.join(" ")}`)).toEqual([]);
});

test("No period follows a command in a message.", () => {
  const ended = PRINTED.filter(({ end }) => /\.$/.test(end));
  expect(ended.map(({ place, words }) => `${place}: ${words.join(" ")}`)).toEqual([]);
});

test("Nothing follows a command of another tool after a colon, so that it can be selected and pasted.", () => {
  const followed = messages().flatMap(({ place, text }) => {
    if (/\/\w+(?:Flags|Command)\.ts:/.test(place)) return [];
    const commands = [...text.matchAll(AFTER_COLON)].map(([, command = ""]) => command);
    return commands
      .filter((each) => /\.(?:\s|$)|, or | \(/.test(each) && !/ (?:prints|lists|shows) /.test(each))
      .map((each) => `${place}: ${each}`);
  });
  expect(followed).toEqual([]);
});
