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

rmSync(bin, { recursive: true, force: true });
const { metafile } = buildSync({
  absWorkingDir: root,
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
  metafile: true,
  logLevel: "warning",
});
chmodSync(path.join(bin, name), 0o755);
writeFileSync(path.join(bin, `${name}.cmd`), `@node "%~dp0${name}" %*\r\n`);

writeFileSync(path.join(bin, "LICENSES"), licensesOf(metafile));
