#!/usr/bin/env node
// Pastes pages into interactive shells, as a reader does, and prints the exit code of each block:
// npm run docs:paste [bash] [zsh] [page …]
//
// Each page starts in a new clone of this one, with what has been installed and built here; the
// README starts without. It needs `script` (util-linux) for a terminal, and npm's registry.
require("./requireNode");

const { spawn, spawnSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const ROOT = path.resolve(__dirname, "..");
const SHELLS = { bash: "bash --noprofile --norc -i", zsh: "zsh -f -i" };
const TIMEOUT_MS = 900_000;
const END = "--end-of-block--";
const ENDED = /--end-of-block--(\d+)/;

/** @typedef {{ line: number, text: string, title: string | undefined }} Block */

/**
 * Returns the blocks of a page that a reader types, and the files that it shows, in order.
 * @param {string} page
 * @returns {Block[]}
 */
function blocksOf(page) {
  const text = fs.readFileSync(path.join(ROOT, page), "utf8");
  const blocks = [...text.matchAll(/^```(\w+)(?: title=(\S+))?[^\n]*\n(.*?)\n```$/gms)].map((found) => ({
    line: text.slice(0, found.index).split("\n").length + 1,
    language: found[1],
    title: found[2],
    text: found[3] ?? "",
  }));
  return blocks.filter(({ language, title }) => language === "sh" || title !== undefined);
}

/** Returns the pages that begin with a project, and the READMEs of examples, with their folder. */
function pagesToPaste() {
  const docs = /** @type {string[]} */ (fs.readdirSync(path.join(ROOT, "docs"), { recursive: true, encoding: "utf8" }))
    .filter((name) => name.endsWith(".md"))
    .map((name) => path.join("docs", name))
    .filter((page) => (blocksOf(page)[0]?.text ?? "").startsWith("npm run new"));
  const examples = fs
    .readdirSync(path.join(ROOT, "examples"))
    .map((name) => path.join("examples", name, "README.md"))
    .filter((page) => fs.existsSync(path.join(ROOT, page)) && blocksOf(page).length > 0);
  return ["README.md", ...docs.sort(), ...examples.sort()];
}

/** Clones this clone into a folder. @param {string} folder @param {boolean} isInstalled */
function copyClone(folder, isInstalled) {
  const copy = path.join(folder, "pulumi-serverless-gpu");
  runOrFail("git", ["clone", "--quiet", ROOT, copy]);
  if (!isInstalled) return copy;
  // Builds write into their folders, and npm replaces its own.
  for (const name of ["dist", "plugin/bin", "plugin/schema.json"].filter(
    (each) => !fs.existsSync(path.join(copy, each)),
  ))
    runOrFail("cp", ["-a", path.join(ROOT, name), path.join(copy, name)]);
  runOrFail("cp", ["-al", path.join(ROOT, "node_modules"), path.join(copy, "node_modules")]);
  return copy;
}

/** @param {string} file @param {readonly string[]} args */
function runOrFail(file, args) {
  const { status, stderr } = spawnSync(file, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${file} ${args.join(" ")}: ${stderr}`);
}

/**
 * Opens an interactive shell in a folder.
 * @param {keyof typeof SHELLS} name
 * @param {string} folder
 * @param {string} home
 */
function openShell(name, folder, home) {
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    XDG_CACHE_HOME: process.env.XDG_CACHE_HOME || path.join(os.homedir(), ".cache"),
    SHELL: `/usr/bin/${name}`,
    TERM: "dumb",
    npm_config_cache: path.join(os.homedir(), ".npm"),
    npm_config_update_notifier: "false",
  };
  return spawn("script", ["-qfc", SHELLS[name], "/dev/null"], { cwd: folder, env, stdio: ["pipe", "pipe", "inherit"] });
}

/**
 * Pastes a block. Returns its exit code, or why there is none.
 * @param {import("node:child_process").ChildProcessByStdio<import("node:stream").Writable, import("node:stream").Readable, null>} shell
 * @param {string} text
 * @returns {Promise<{ result: string, output: string }>}
 */
function paste(shell, text) {
  return new Promise((resolve) => {
    let output = "";
    const timer = setTimeout(() => end("does not end"), TIMEOUT_MS);
    const onEnd = () => end("ended the shell");
    /** @param {string} result */
    const end = (result) => {
      clearTimeout(timer);
      shell.stdout.off("data", onData).off("end", onEnd);
      resolve({ result, output });
    };
    /** @param {string} chunk */
    const onData = (chunk) => {
      output += chunk;
      const [, exitCode] = ENDED.exec(output) ?? [];
      if (exitCode !== undefined) end(exitCode);
    };
    shell.stdout.setEncoding("utf8").on("data", onData).on("end", onEnd);
    shell.stdin.write(`${text}\necho "${END}$?"\n`);
  });
}

/** Returns the folder in which a page's files belong. @param {string} page @param {string} copy */
function projectOf(page, copy) {
  if (page.startsWith("examples/")) return path.join(copy, path.dirname(page));
  const made = blocksOf(page).map(({ text }) => /^npm run new (\S+)/m.exec(text)?.[1]);
  return path.resolve(copy, made.find((each) => each !== undefined) ?? ".");
}

/** @param {string} page @param {keyof typeof SHELLS} name */
async function pastePage(page, name) {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "paste-"));
  const home = path.join(scratch, "home");
  fs.mkdirSync(home);
  const copy = copyClone(scratch, page !== "README.md");
  const project = projectOf(page, copy);
  const shell = openShell(name, copy, home);
  const results = [];
  try {
    for (const { line, text, title } of blocksOf(page)) {
      if (title !== undefined) {
        fs.writeFileSync(path.join(project, title), `${text}\n`);
        continue;
      }
      const startedAt = Date.now();
      const { result, output } = await paste(shell, text);
      const seconds = Math.round((Date.now() - startedAt) / 1000);
      results.push({ line, text, result, seconds });
      if (result !== "0") console.error(`${page}:${line} in ${name}: ${result}\n${output}`);
      if (!/^\d+$/.test(result)) break;
    }
  } finally {
    shell.kill("SIGKILL");
    fs.rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
  return results;
}

async function main(args = process.argv.slice(2)) {
  const all = /** @type {(keyof typeof SHELLS)[]} */ (Object.keys(SHELLS));
  const given = all.filter((name) => args.includes(name));
  const pages = args.filter((each) => !(each in SHELLS));
  console.log("| block | shell | exit code | time | first line |\n|---|---|---|---|---|");
  for (const page of pages.length > 0 ? pages : pagesToPaste())
    for (const name of given.length > 0 ? given : all)
      for (const { line, text, result, seconds } of await pastePage(page, name))
        console.log(`| ${page}:${line} | ${name} | ${result} | ${seconds} s | \`${text.split("\n")[0]}\` |`);
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
