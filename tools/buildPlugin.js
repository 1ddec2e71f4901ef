// Bundles the provider plugin into one file without dependencies: plugin/bin/pulumi-resource-serverless-gpu.
const { chmodSync, rmSync, writeFileSync } = require("node:fs");
const path = require("node:path");
const { buildSync } = require("esbuild");

const root = path.join(__dirname, "..");
const bin = path.join(root, "plugin", "bin");
const name = "pulumi-resource-serverless-gpu";

rmSync(bin, { recursive: true, force: true });
buildSync({
  entryPoints: [path.join(root, "plugin", "main.ts")],
  outfile: path.join(bin, name),
  bundle: true,
  platform: "node",
  target: "node20",
  // Names stay, because they are part of errors.
  minifySyntax: true,
  minifyWhitespace: true,
  banner: { js: "#!/usr/bin/env node" },
  legalComments: "none",
  logLevel: "warning",
});
chmodSync(path.join(bin, name), 0o755);
writeFileSync(path.join(bin, `${name}.cmd`), `@node "%~dp0${name}" %*\r\n`);
