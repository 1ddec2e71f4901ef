#!/usr/bin/env node
// Makes a project that uses the packages of this clone, packed as they are published:
// npm run new ../llama [typescript | yaml | python | go | client]
require("../requireNode");

const fs = require("node:fs");
const path = require("node:path");
const { shellWithEmulator } = require("../shellWithEmulator");
const { accountLine } = require("./account");
const { LANGUAGES, writeProject } = require("./files");
const { install, installSdk, prepareClone, packInto } = require("./install");

const USAGE = `Usage: npm run new <folder> [${Object.keys(LANGUAGES).join(" | ")}]

Makes the folder, with a program that uses the packages of this clone. "client" is a
project without Pulumi, for jobs and tests.`;

/** @param {readonly string[]} args */
async function main([given = "", language = "typescript", ...more]) {
  const what = LANGUAGES[language];
  if (given === "" || given.startsWith("-") || !what || more.length > 0) {
    console.error(what || given === "" ? USAGE : `There is no language "${language}".\n\n${USAGE}`);
    process.exitCode = 2;
    return;
  }
  // npm runs scripts in the root of the clone, and remembers where it was started.
  const folder = path.resolve(process.env.INIT_CWD || ".", given);
  if (fs.existsSync(folder) && fs.readdirSync(folder).length > 0)
    throw new Error(`${folder} is not empty. Give the name of a new folder`);
  prepareClone();
  const isNew = !fs.existsSync(folder);
  try {
    fs.mkdirSync(folder, { recursive: true });
    writeProject(folder, language, packInto(folder, language));
    install(folder);
    await installSdk(folder, language);
  } catch (error) {
    for (const name of fs.readdirSync(folder)) fs.rmSync(path.join(folder, name), { recursive: true, force: true });
    if (isNew) fs.rmdirSync(folder);
    throw error;
  }
  const line = what.needs === "nothing" ? undefined : await accountLine();
  console.log(`\nMade ${folder}: ${what.files.join(", ")}`);
  if (line !== undefined) console.log(line);
  console.log(`Next: ${shellWithEmulator(given)}`);
}

main(process.argv.slice(2)).catch((error) => {
  console.error(`npm run new: ${error.message}`);
  process.exitCode = 1;
});
