// Bundles the handlers into one file, in place of the compiled one: Pulumi's provider process
// starts with every command, and loading one file takes a third of the time of loading 300. The
// bundle contains parts of packages, so their licenses go with it.
const { rmSync, writeFileSync } = require("node:fs");
const path = require("node:path");
const { build } = require("esbuild");
const { licensesOf } = require("./licenses");

const root = path.join(__dirname, "..");
const outfile = path.join(root, "dist/provider/handlers.js");

async function main() {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [path.join(root, "provider/handlers.ts")],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20.19",
    // Pulumi's process would read a source map for each stack trace.
    sourcemap: false,
    // In ES modules, esbuild finds the parts that are not used.
    mainFields: ["module", "main"],
    // undici's entry point loads all of it, with its own fetch and WebSocket.
    alias: { "undici/index.js": path.join(__dirname, "undiciParts.js") },
    external: ["@pulumi/pulumi"],
    metafile: true,
    logLevel: "warning",
  });
  rmSync(`${outfile}.map`, { force: true });
  writeFileSync(path.join(root, "dist/provider/handlers.licenses.txt"), licensesOf(metafile));
}

main();
