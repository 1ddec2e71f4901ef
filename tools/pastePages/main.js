#!/usr/bin/env node
// Pastes pages into interactive shells, as a reader does, and prints a table of their exit codes:
// npm run docs:paste [bash] [zsh] [page …]
//
// Each page starts in a new clone of this clone, with everything that is installed and built here,
// except the README, which starts without. It needs `script` (util-linux) for a terminal, and npm's
// registry.
require("../requireNode");

const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { expectedOf, pagesWithCommands, planOf, presumedBy, projectOf, ROOT } = require("./pages");
const { openShell, SHELLS } = require("./shell");

/** Clones this clone into a folder. @param {string} folder @param {boolean} isInstalled */
function copyClone(folder, isInstalled) {
  const copy = path.join(folder, "pulumi-serverless-gpu");
  runOrFail("git", ["clone", "--quiet", ROOT, copy]);
  if (!isInstalled) return copy;
  // Builds write into their folders, so copy these. npm replaces files instead of changing them, so
  // hard links are enough.
  for (const name of ["dist", "plugin/bin"]) runOrFail("cp", ["-a", path.join(ROOT, name), path.join(copy, name)]);
  runOrFail("cp", ["-al", path.join(ROOT, "node_modules"), path.join(copy, "node_modules")]);
  return copy;
}

/** @param {string} file @param {readonly string[]} args */
function runOrFail(file, args) {
  const { status, stderr } = spawnSync(file, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${file} ${args.join(" ")}: ${stderr}`);
}

/**
 * Pastes a page into a shell. Returns how many commands were run, and the one that did not end as
 * it should, if any.
 * @param {string} page
 * @param {keyof typeof SHELLS} name
 */
async function pastePage(page, name) {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "paste-"));
  const home = path.join(scratch, "home");
  fs.mkdirSync(home);
  const copy = copyClone(scratch, page !== "README.md");
  const project = projectOf(page, copy);
  const shell = openShell(name, copy, home);
  let commands = 0;
  try {
    const { text = undefined, files = {} } = presumedBy(page) ?? {};
    const setup = text === undefined ? [] : [{ line: 0, text, title: undefined }];
    const given = Object.entries(files).map(([title, content]) => ({ line: 0, text: content.trimEnd(), title }));
    for (const { line, text, title } of [...setup, ...given, ...planOf(page).pasted]) {
      if (title !== undefined) fs.writeFileSync(path.join(project, title), `${text}\n`);
      else
        for (const { command, result, output } of await shell.paste(text)) {
          commands++;
          if (!expectedOf(command).test(result)) return { commands, failed: { line, command, result, output } };
        }
    }
  } finally {
    await shell.close();
    // Processes of the page may need a moment to end.
    await fs.promises.rm(scratch, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
  return { commands, failed: undefined };
}

/** @param {string} page @param {keyof typeof SHELLS} name */
async function rowOf(page, name) {
  const startedAt = Date.now();
  const { commands, failed } = await pastePage(page, name);
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  if (failed) console.error(`${page}:${failed.line} in ${name}: ${failed.command}: ${failed.result}\n${failed.output}`);
  if (failed) process.exitCode = 1;
  const result = failed ? `${failed.result}: \`${failed.command}\`` : "0";
  return `| ${page} | ${name} | ${commands} | ${result} | ${seconds} s |`;
}

async function main(args = process.argv.slice(2)) {
  const all = /** @type {(keyof typeof SHELLS)[]} */ (Object.keys(SHELLS));
  const given = all.filter((name) => args.includes(name));
  const named = args.filter((each) => !(each in SHELLS));
  console.log("| page | shell | commands | exit code | time |\n|---|---|---|---|---|");
  for (const page of named.length > 0 ? named : pagesWithCommands()) {
    const { pasted, skipped, reason } = planOf(page);
    for (const name of pasted.length > 0 ? (given.length > 0 ? given : all) : []) console.log(await rowOf(page, name));
    if (skipped.length > 0) {
      const what = pasted.length > 0 ? `${skipped.length} blocks skipped` : "skipped";
      console.log(`| ${page} | ${what}: ${reason} | | | |`);
    }
  }
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
