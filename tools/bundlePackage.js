// Bundles the compiled package into `dist`, which is published: the entry points and the files that
// they share, so that a class is the same in all of them, the types, and the handlers.
const { execFileSync } = require("node:child_process");
const { chmodSync, mkdirSync, rmSync, writeFileSync } = require("node:fs");
const { builtinModules } = require("node:module");
const path = require("node:path");
const { build, transform } = require("esbuild");
const { rollup } = require("rollup");
const { dts } = require("rollup-plugin-dts");
const { licensesOf } = require("./licenses");
const { DIGEST_FILE, digestOfSources } = require("./sourcesOfBuild");

const root = path.join(__dirname, "..");
const dist = path.join(root, "dist");
/** The compiled sources, one file for each. Not published. */
const compiled = path.join(root, "build");

/** The entry points with types, as their paths in `dist`. */
const TYPED = ["provider/index", "sdk/index", "emulator/index", "provider/handlers"];
const BUNDLED = ["provider/index", "sdk/index", "emulator/index", "cli/main", "cli/forecast/runThread"];

/** @type {import("esbuild").BuildOptions} */
const OPTIONS = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20.19",
  logLevel: "warning",
};

/** Stands for `import` where esbuild must not make it a `require`. */
const IMPORT = "__dynamicImport";
/**
 * Stands for `require` where esbuild must not make it a function of its own, because a user's
 * bundler sees only a plain `require("name")`.
 */
const REQUIRE = "__plainRequire";

/** The packages of the client, which contains them: a user's bundler needs to find nothing. */
const CONTAINED = /^(eventsource-parser|fastest-levenshtein|graphql-request)$/;
/** undici's entry point loads all of it, with its own fetch and WebSocket. */
const ALIAS = { "undici/index.js": path.join(__dirname, "undiciParts.js") };

/**
 * The largest of them, each in a file of its own, which is loaded when the first module that
 * imports it runs: a Pulumi program, which sends no request itself, needs none of them.
 * @type {Readonly<Record<string, string>>}
 */
const APART = { "undici/index.js": "undici", zod: "zod" };
/** Stands for the path of such a file. */
const APART_PATH = "apart:";

/**
 * Loads any other package only when the first module that imports it runs. Otherwise, a file of the
 * bundle would load all of its packages at once.
 * @type {import("esbuild").Plugin}
 */
const lazyPackages = {
  name: "lazy-packages",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[^./]/ }, ({ path: name, kind, importer }) => {
      if (kind === "entry-point") return undefined;
      const isBuiltIn = name.startsWith("node:") || builtinModules.includes(name);
      if (isBuiltIn && kind !== "require-call") return { path: name, external: true };
      if (kind !== "require-call" && name in APART)
        return { path: `${APART_PATH}${APART[name]}.js`, namespace: "package" };
      const isContained = CONTAINED.test(name) || importer.includes("node_modules");
      return isContained && !isBuiltIn ? undefined : { path: name, namespace: "package" };
    });
    onLoad({ filter: /./, namespace: "package" }, ({ path: name }) => ({
      contents: `module.exports = ${REQUIRE}(${JSON.stringify(name)});`,
    }));
  },
};

/**
 * Leaves out zod's messages in all languages: zod imports the English ones, which it uses, itself.
 * Rollup loads required modules first, also undici's node:sqlite, which older Node.js lacks.
 * @type {import("esbuild").Plugin}
 */
const withoutUnused = {
  name: "without-unused",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/locales\/index\.js$/ }, ({ path: name }) => ({ path: name, namespace: "unused" }));
    onLoad({ filter: /./, namespace: "unused" }, () => ({ contents: "export {};" }));
    onResolve({ filter: /^node:sqlite$/ }, ({ path: name }) => ({ path: name, namespace: "lazy" }));
    onLoad({ filter: /./, namespace: "lazy" }, ({ path: name }) => ({
      contents: `module.exports = process.getBuiltinModule("${name}");`,
    }));
  },
};

/**
 * Bundles each package that is apart.
 * @returns the bundled files
 */
async function bundleApart() {
  const { metafile } = await build({
    ...OPTIONS,
    entryPoints: { undici: ALIAS["undici/index.js"], zod: "zod" },
    outdir: path.join(dist, "core"),
    mainFields: ["module", "main"],
    plugins: [withoutUnused],
    metafile: true,
  });
  return metafile.inputs;
}

/**
 * Bundles the code. esbuild shares files between entry points only as ES modules, so each is
 * transformed afterwards.
 */
async function bundleCode() {
  const { outputFiles, metafile } = await build({
    ...OPTIONS,
    entryPoints: BUNDLED.map((name) => ({ in: path.join(root, `${name}.ts`), out: name })),
    outdir: dist,
    chunkNames: "core/[name]-[hash]",
    splitting: true,
    format: "esm",
    plugins: [lazyPackages],
    // Prefer ES modules, because esbuild can remove their unused parts.
    mainFields: ["module", "main"],
    alias: ALIAS,
    metafile: true,
    // In the bundle, a class that is loaded lazily is an expression, and would get another name.
    keepNames: true,
    write: false,
  });
  for (const { path: file, text: bundled } of outputFiles) {
    // Parts of the package are required. Any other module may be an ES module with a URL.
    const { code } = await transform(onlyClassNames(bundled).replace(/\bimport\((?=\w)/g, `${IMPORT}(`), {
      format: "cjs",
      platform: "node",
      target: OPTIONS.target,
      supported: { "dynamic-import": false },
    });
    mkdirSync(path.dirname(file), { recursive: true });
    const text = code.replaceAll(IMPORT, "import").replaceAll(REQUIRE, "require");
    const toCore = path.relative(path.dirname(file), path.join(dist, "core")).replaceAll("\\", "/") || ".";
    writeFileSync(file, text.replaceAll(`require("${APART_PATH}`, `require("${toCore}/`));
  }
  const inputs = { ...metafile.inputs, ...(await bundleApart()) };
  writeFileSync(path.join(dist, "core/licenses.txt"), licensesOf({ ...metafile, inputs }));
}

/**
 * Keeps only the names of classes. `keepNames` defines the name of every function anew whenever the
 * function is created, which takes a sixth of the CPU time of a short request.
 * @param {string} code
 */
function onlyClassNames(code) {
  return code
    .replace(/__name = \(target, value\) => (.*);/, "__name = (target, value, isClass) => isClass ? $1 : target;")
    .replace(/__name\(this, ("[^"]*")\)/g, "__name(this, $1, true)");
}

/** Declares what the entry points export, and what they share once. */
async function bundleTypes() {
  const bundle = await rollup({
    input: Object.fromEntries(TYPED.map((name) => [name, path.join(compiled, `${name}.d.ts`)])),
    plugins: [dts()],
    external: /^[^./]/,
    onwarn(warning, warn) {
      // A few types are not exported themselves, and are used only by exported types.
      if (!warning.message.includes("no public re-export")) warn(warning);
    },
  });
  await bundle.write({ dir: dist, entryFileNames: "[name].d.ts", chunkFileNames: "core/types-[hash].d.ts" });
}

/**
 * Bundles the handlers and the packages that they use into one file: Pulumi's provider process
 * starts with every command. The licenses of the packages go with it.
 */
async function bundleHandlers() {
  const { metafile } = await build({
    ...OPTIONS,
    entryPoints: [path.join(root, "provider/handlers.ts")],
    outfile: path.join(dist, "provider/handlers.js"),
    // Prefer ES modules, because esbuild can remove their unused parts.
    mainFields: ["module", "main"],
    alias: ALIAS,
    external: ["@pulumi/pulumi"],
    metafile: true,
  });
  writeFileSync(path.join(dist, "provider/handlers.licenses.txt"), licensesOf(metafile));
}

async function main() {
  rmSync(dist, { recursive: true, force: true });
  await Promise.all([bundleCode(), bundleTypes(), bundleHandlers()]);
  const command = path.join(dist, "cli/main.js");
  chmodSync(command, 0o755);
  writeFileSync(path.join(dist, "cli/help.txt"), execFileSync(process.execPath, [command, "help"]));
  writeFileSync(DIGEST_FILE, digestOfSources());
}

main();
