// Bundles the provider plugin into one file without dependencies,
// plugin/bin/pulumi-resource-serverless-gpu, and writes the licenses of the packages in it beside
// it.
const { chmodSync, rmSync, writeFileSync } = require("node:fs");
const path = require("node:path");
const { buildSync } = require("esbuild");
const { licensesOf } = require("./licenses");

const root = path.join(__dirname, "..");
const bin = path.join(root, "plugin", "bin");
const name = "pulumi-resource-serverless-gpu";

/** The oldest Node.js that runs the plugin. */
const [, oldest = ""] = />=(\d+\.\d+)/.exec(require("../plugin/package.json").engines.node) ?? [];
const needed = `the serverless-gpu provider plugin needs Node.js ${oldest} or later on PATH`;
const remedy = "Install it from https://nodejs.org";

/**
 * The beginning of the file. A shell runs the second line, which runs this file with Node.js or
 * reports that Node.js is missing. For Node.js, that line is only a string and a comment.
 */
const launcher = `#!/bin/sh
":" //; command -v node >/dev/null 2>&1 || { echo "${needed}, and found none. ${remedy}" >&2; exit 1; }; exec node "$0" "$@"
;(function(v){if(v[0]<${oldest.split(".")[0]}||v[0]==${oldest.split(".")[0]}&&v[1]<${oldest.split(".")[1]}){console.error("${needed}, and found "+process.versions.node+". ${remedy}");process.exit(1)}})(process.versions.node.split(".").map(Number));`;

rmSync(bin, { recursive: true, force: true });
const { metafile } = buildSync({
  absWorkingDir: root,
  entryPoints: [path.join(root, "plugin", "main.ts")],
  outfile: path.join(bin, name),
  bundle: true,
  platform: "node",
  target: "node20",
  // Don't minify names, because error messages contain them.
  minifySyntax: true,
  minifyWhitespace: true,
  banner: { js: launcher },
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
});
chmodSync(path.join(bin, name), 0o755);
const onWindows = [
  "@where node >nul 2>nul",
  `@if errorlevel 1 (echo ${needed}, and found none. ${remedy} 1>&2 & exit /b 1)`,
  `@node "%~dp0${name}" %*`,
];
writeFileSync(path.join(bin, `${name}.cmd`), onWindows.map((line) => `${line}\r\n`).join(""));

// npm on Windows cannot run the file itself, because its first line names a shell instead of
// Node.js.
writeFileSync(path.join(bin, "npm-bin"), `#!/usr/bin/env node\nrequire("./${name}");\n`, { mode: 0o755 });

writeFileSync(path.join(bin, "LICENSES"), licensesOf(metafile));
