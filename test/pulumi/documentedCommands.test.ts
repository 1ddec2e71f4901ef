import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { ensurePulumi } from "../../tools/pulumi-cli/ensurePulumi";
import { type CodeBlock, codeBlocks, pages } from "../docs/markdown";
import { type Command, commandsIn, type Help, parseHelp, problemWith } from "../docs/shellCommands";
import { REPOSITORY } from "../support/sources";

/** Commands of other programs, which are not checked. */
const OTHERS = [
  "awk",
  "basename",
  "bash",
  "cat",
  "cd",
  "curl",
  "docker",
  "eval",
  "exit",
  "export",
  "git",
  "head",
  "helm",
  "kubectl",
  "mkdir",
  "mv",
  "node",
  "printf",
  "promtool",
  "seq",
  "python3",
  "sha256sum",
  "sleep",
  "tail",
  "terraform",
  "ts-node",
  "venv/bin/pip",
  "echo",
  "sort",
];

/** Folders whose scripts are called as `./name`. */
const EXAMPLES = readdirSync(path.join(REPOSITORY, "examples")).map((name) => path.join(REPOSITORY, "examples", name));

const { scripts } = require("../../package.json") as { scripts: Record<string, string> };

const known = new Map<string, Promise<Help>>();

/**
 * Returns a function for the help of a program's subcommand, which runs the program once for each.
 */
function helpFrom(file: string, before: readonly string[] = []): (words: readonly string[]) => Promise<Help> {
  return (words) => {
    const args = [...before, ...words, "--help"];
    const key = [file, ...args].join(" ");
    const help = known.get(key) ?? promisify(execFile)(file, args).then(({ stdout }) => parseHelp(stdout));
    known.set(key, help);
    return help;
  };
}

const engine = ensurePulumi({ log: () => {} });
const pulumi = async (words: readonly string[]) => helpFrom((await engine).command)(words);
const serverlessGpu = helpFrom(process.execPath, [path.join(REPOSITORY, "dist/cli/main.js")]);

async function problemOf(command: Command): Promise<string | undefined> {
  const [name = "", ...words] = command[0] === "npx" ? command.slice(1) : command;
  if (OTHERS.includes(name)) return undefined;
  // Outside a project, npx would run whatever package has this name.
  if (name === "serverless-gpu" && command[0] === "npx") return "npx serverless-gpu does not name the package";
  if (name === "pulumi-serverless-gpu") return problemWith(["serverless-gpu", ...words], serverlessGpu);
  if (name === "serverless-gpu") return problemWith([name, ...words], serverlessGpu);
  if (name === "pulumi") return problemWith([name, ...words], pulumi);
  if (name === "npm") return problemOfNpm(words);
  if (name.startsWith("./") && EXAMPLES.some((folder) => existsSync(path.join(folder, name)))) return undefined;
  return `there is no command ${name}`;
}

function problemOfNpm([command = "", script = ""]: Command): string | undefined {
  if (command === "run") return script in scripts ? undefined : `there is no script ${script}`;
  return ["ci", "install", "pack", "test"].includes(command) ? undefined : `npm ${command} is not expected`;
}

/** Returns the typed lines of a `console` block: those after a `$`. */
function typedIn({ language, text }: CodeBlock): string {
  if (language === "sh") return text;
  return [...text.matchAll(/^\s*\$ (.*)$/gm)].map(([, command]) => command).join("\n");
}

const blocks = pages()
  .flatMap(codeBlocks)
  .filter(({ language }) => language === "sh" || language === "console");

test.each(
  blocks.map((block) => [`${block.page}:${block.line}`, typedIn(block)]),
)("%s: all documented commands, subcommands and options exist", async (_place, text) => {
  const problems = await Promise.all(commandsIn(text).map(problemOf));
  expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
});

test("the check finds commands, options and scripts that do not exist", async () => {
  const problems = await Promise.all(
    commandsIn(`npm run nothing && npx pulumi-serverless-gpu emulate
X=1 pulumi stack inti dev # pulumi nonsense
curl "$(pulumi stack output --jason)" | serverless-gpu emulator exec --prot 1 -- tset --x
pulumi up --yes --refresh -s dev > file; serverless-gpu emulator exec -- npm test`).map(problemOf),
  );
  expect(problems.filter((problem) => problem !== undefined)).toEqual([
    "there is no script nothing",
    "serverless-gpu has no command emulate",
    "pulumi stack has no command inti",
    "serverless-gpu emulator exec has no option --prot",
    "there is no command tset",
    "pulumi stack output has no option --jason",
  ]);
});
