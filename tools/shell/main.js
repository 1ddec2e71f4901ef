#!/usr/bin/env node
// Opens a shell in a folder with the Pulumi engine on PATH, the one that the demo uses:
// npm run shell [folder]
require("../requireInstalled");

const { spawnSync } = require("node:child_process");
const { statSync } = require("node:fs");
const path = require("node:path");
const { quoted } = require("../quoted");

async function main([given = ".", ...more] = process.argv.slice(2)) {
  if (given.startsWith("-") || more.length > 0) {
    console.error("Usage: npm run shell [folder]\n\nOpens a shell in the folder. Type the commands there.");
    process.exitCode = 2;
    return;
  }
  const folder = path.resolve(process.env.INIT_CWD || ".", given);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`there is no folder ${folder}. To make a project: npm run new ${quoted(given)}`);
  const { describeEngine, ensurePulumi } = require("../pulumi-cli/ensurePulumi");
  const { plainEnvironment } = require("../newProject/install");
  const engine = await ensurePulumi();
  const env = { ...plainEnvironment(), PULUMI_SKIP_UPDATE_CHECK: "true" };
  env.PATH = engine.binDir + path.delimiter + env.PATH;
  const shell = process.platform === "win32" ? process.env.ComSpec || "cmd.exe" : process.env.SHELL || "sh";
  console.error(`A shell in ${folder} with ${describeEngine(engine)}`);
  const { SERVERLESS_GPU_API_KEY: key = "", SERVERLESS_GPU_GRAPHQL_URL: url } = process.env;
  if (key.startsWith("emulator-")) console.error(`It uses an emulator. To watch it, open ${url}/_emulator/`);
  console.error("Leave it with: exit");
  // Ctrl-C is for the commands in the shell.
  process.on("SIGINT", () => {});
  const { status, error } = spawnSync(shell, { cwd: folder, env, stdio: "inherit" });
  if (error) throw new Error(`${shell} cannot be started: ${error.message}`);
  process.exitCode = status ?? 1;
}

main().catch((error) => {
  console.error(`npm run shell: ${error.message}`);
  process.exitCode = 1;
});
