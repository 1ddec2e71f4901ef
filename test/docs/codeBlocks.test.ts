import { spawnSync } from "node:child_process";
import { isEndless } from "../../tools/pastePages/pages";
import { parseYaml } from "../support/yaml";
import { type CodeBlock, codeBlocks, markdownFiles, pages, readPage } from "./markdown";
import { problemsOf } from "./typeCheck";

/**
 * The languages that are checked. Commands (`sh`, `console`) are checked with the engine, in
 * test/pulumi.
 */
const LANGUAGES = ["console", "dockerfile", "json", "python", "sh", "text", "ts", "yaml"];

const blocks = pages().flatMap(codeBlocks);
const blocksIn = (language: string) => blocks.filter((block) => block.language === language);
const placeOf = ({ page, line }: CodeBlock) => `${page}:${line}`;

test("every block declares a language that is checked", () => {
  expect(blocks.length).toBeGreaterThan(30);
  expect(blocks.filter(({ language }) => !LANGUAGES.includes(language)).map(placeOf)).toEqual([]);
});

test("no block of commands contains a comment, which an interactive zsh would pass to the command", () => {
  const hasComment = ({ text }: CodeBlock) => /(^|\s)#\s/.test(text.replace(/'[^']*'|"[^"]*"|<<'(\w+)'.*?^\1$/gms, ""));
  expect(blocksIn("sh").filter(hasComment).map(placeOf)).toEqual([]);
});

/** Commands that open or leave a shell. */
const CHANGES_SHELL = /(^|\s)npm run shell\b|(^|\s)(ba|z|fi|da)?sh$|^exit$/;

/**
 * Returns the lines of a block that a pasting reader runs elsewhere than the page means. A shell
 * with bracketed paste (bash 5.1) keeps the rest of a block while a command runs: a shell that the
 * command opens does not get it, and it runs afterwards in the outer shell, without the emulator's
 * environment.
 */
const misplacedLines = (text: string) =>
  text
    .split("\n")
    .slice(0, -1)
    .filter((line) => CHANGES_SHELL.test(line.trim()) || isEndless(line.trim()));

test("no block continues after a command that opens or leaves a shell or runs until Ctrl-C", () => {
  const shellBlocks = markdownFiles()
    .flatMap(codeBlocks)
    .filter(({ language }) => ["sh", "bash", "shell"].includes(language));
  expect(shellBlocks.length).toBeGreaterThan(30);
  expect(shellBlocks.filter(({ text }) => misplacedLines(text).length > 0).map(placeOf)).toEqual([]);

  const opening = [
    "npx x emulator exec -- bash",
    "npm run shell ../llama",
    "npx x -- npm run shell ../llama",
    "exit",
    "zsh",
  ];
  const other = ["npm run shellcheck-all -- x.sh", "./pipeline.sh", "emulator exec -- npm test"];
  expect(misplacedLines([...opening, ...other, "pulumi up --yes"].join("\n"))).toEqual(opening);
  expect(misplacedLines("npm run new ../llama\nnpm run shell ../llama")).toEqual([]);
});

/**
 * Returns the programs of a page: a block, and those that continue it (`ts continued`). All other
 * lines of the page are blank, so that problems are reported with the line number of the page. A
 * block that imports a package of others, which is not installed here, is left out (`ts foreign`).
 */
function programsOf(page: string): { file: string; text: string }[] {
  const programs: string[][] = [];
  const own = codeBlocks(page).filter(({ language, options }) => language === "ts" && !options.includes("foreign"));
  for (const { line, options, text } of own) {
    if (!options.includes("continued")) programs.push(Array(readPage(page).split("\n").length).fill(""));
    const program = programs.at(-1);
    if (!program) throw new Error(`${page}:${line} continues no block`);
    const lines = text.split("\n");
    program.splice(line - 1, lines.length, ...lines);
  }
  return programs.map((lines, index) => ({ file: `${page}.${index + 1}.ts`, text: lines.join("\n") }));
}

describe("TypeScript", () => {
  test("compiles with the package's own types", () => {
    const programs = pages().flatMap(programsOf);
    expect(programs.length).toBeGreaterThan(10);
    expect(problemsOf(programs)).toEqual([]);
  }, 300_000);

  test("an error in a TypeScript block is reported with its line", () => {
    const text =
      '\nimport { ServerlessEndpoint } from "pulumi-serverless-gpu";\nnew ServerlessEndpoint("a", { gpu: 1 });';
    expect(problemsOf([{ file: "docs/wrong.md.1.ts", text }])).toEqual([
      expect.stringMatching(/^docs\/wrong\.md\.1\.ts:3: .*'gpu' does not exist/),
    ]);
  }, 300_000);
});

test.each(blocksIn("json").map((block) => [placeOf(block), block.text]))("%s is valid JSON", (_place, text) => {
  expect(() => JSON.parse(text)).not.toThrow();
});

test.each(blocksIn("yaml").map((block) => [placeOf(block), block.text]))("%s is valid YAML", (_place, text) => {
  expect(() => parseYaml(text)).not.toThrow();
});

test.each(
  blocksIn("dockerfile").map((block) => [placeOf(block), block.text]),
)("%s is a Dockerfile with a base image, packages, code and a start command", (_place, text) => {
  expect(text.split("\n").map((line) => line.split(" ")[0])).toEqual(["FROM", "RUN", "COPY", "CMD"]);
});

test.each(
  blocksIn("python").map((block) => [placeOf(block), block.text]),
)("%s is valid Python, if Python is installed", (_place, text) => {
  const { error, stderr } = spawnSync("python3", ["-c", "import ast, sys; ast.parse(sys.stdin.read())"], {
    input: text,
    encoding: "utf8",
  });
  if (error === undefined) expect(stderr).toBe("");
});
