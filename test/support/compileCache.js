// Loaded into Node.js processes of the tests (NODE_OPTIONS in compiledCode.ts), so that they start
// faster. Packages that few of them need are loaded lazily. Keeps the compiled code of the
// repository's packages and of the built package in the folder COMPILE_CACHE, in one file for each
// program. An entry is used only for the same content of the same file, and V8 refuses it in
// another version.
const { createHash } = require("node:crypto");
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require("node:fs");
const Module = require("node:module");
const path = require("node:path");
const v8 = require("node:v8");
const vm = require("node:vm");
const { threadId } = require("node:worker_threads");

/** @typedef {{ hash: string, data?: Buffer, script?: vm.Script }} Entry */
/**
 * @typedef {(this: NodeModule, content: string, file: string, format?: string) => unknown} Compile
 */

const REPOSITORY = path.resolve(__dirname, "../..");
/** All other files, such as the programs, change from run to run. */
const CACHED = [
  ...["node_modules", "dist", "plugin"].map((folder) => path.join(REPOSITORY, folder) + path.sep),
  // What npx is part of.
  path.join(path.dirname(process.execPath), "../lib/node_modules/npm") + path.sep,
];
/**
 * The time without a new module after which the cache is written: providers are killed, and do not
 * exit.
 */
const QUIET_MS = 300;
/** The number of bytes before the index that contain its length. */
const LENGTH_BYTES = 4;

const main = path.resolve(process.argv[1] ?? "");
const store = path.join(String(process.env.COMPILE_CACHE), `${sha1(main)}-${process.version}`);
const entries = readStore();
let changed = false;
/** @type {NodeJS.Timeout | undefined} */
let timer;

/** @param {string} content */
function sha1(content) {
  return createHash("sha1").update(content).digest("hex");
}

/** @returns {Map<string, Entry>} */
function readStore() {
  try {
    const all = readFileSync(store);
    const start = LENGTH_BYTES + all.readUInt32LE(0);
    /** @type {[file: string, hash: string, from: number, to: number][]} */
    const index = JSON.parse(all.toString("utf8", LENGTH_BYTES, start));
    return new Map(
      index.map(([file, hash, from, to]) => [file, { hash, data: all.subarray(start + from, start + to) }]),
    );
  } catch {
    return new Map();
  }
}

function writeStore() {
  if (!changed) return;
  changed = false;
  let end = 0;
  const parts = [...entries].flatMap(([file, { hash, data, script }]) => {
    const part = data ?? script?.createCachedData();
    if (!part) return [];
    end += part.length;
    return [{ row: [file, hash, end - part.length, end], part }];
  });
  const index = Buffer.from(JSON.stringify(parts.map(({ row }) => row)));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(index.length);
  // Two threads of a process may write at the same time.
  const temporary = `${store}.${process.pid}.${threadId}`;
  mkdirSync(path.dirname(store), { recursive: true });
  writeFileSync(temporary, Buffer.concat([length, index, ...parts.map(({ part }) => part)]));
  renameSync(temporary, store);
}

/**
 * Returns the script of a module, or undefined for one that Node.js must compile itself, such as an
 * ES module.
 * @param {string} content
 * @param {string} file
 */
function scriptOf(content, file) {
  const hash = sha1(content);
  const entry = entries.get(file);
  const cachedData = entry?.hash === hash ? entry.data : undefined;
  try {
    const script = new vm.Script(Module.wrap(content.replace(/^#!/, "//")), {
      filename: file,
      // Positions in the first line are those of the file.
      columnOffset: -Module.wrap("").indexOf("\n"),
      ...(cachedData && { cachedData }),
    });
    if (!cachedData || script.cachedDataRejected) {
      entries.set(file, { hash, script });
      changed = true;
      clearTimeout(timer);
      timer = setTimeout(writeStore, QUIET_MS).unref();
    }
    return script;
  } catch {
    return undefined;
  }
}

// Pulumi sets this flag while it loads. Entries are valid only for the flags with which they were
// written.
v8.setFlagsFromString("--allow-natives-syntax");

/** @typedef {(this: NodeModule, id: string) => unknown} Require */
/** @type {{ prototype: { _compile: Compile, require: Require } }} */
const { prototype } = /** @type {any} */ (Module);
const compile = prototype._compile;
/**
 * Tells whether a module may call `import()`, which does not work in a script from the cache. In
 * the compiler, only strings do.
 * @param {string} content
 * @param {string} file
 */
function imports(content, file) {
  return !file.endsWith("/typescript/lib/typescript.js") && /\bimport\s*\(/.test(content);
}

/** @type {Compile} */
function compileCached(content, file, format) {
  const cached =
    CACHED.some((folder) => file.startsWith(folder)) &&
    (format ?? "commonjs") === "commonjs" &&
    !imports(content, file);
  const script = cached ? scriptOf(content, file) : undefined;
  if (!script) return compile.call(this, content, file, format);
  const requireHere = Object.assign((/** @type {string} */ id) => this.require(id), Module.createRequire(file));
  const wrapper = script.runInThisContext();
  return wrapper.call(this.exports, this.exports, requireHere, this, file, path.dirname(file));
}

/**
 * What Pulumi loads at its start but uses only when it serializes functions, traces a run, or shows
 * an error in its own sources, by the modules that load it. Loading all of it takes more than half
 * of the time in which a program or its provider starts.
 * @type {Map<string, readonly string[]>}
 */
const LATE = new Map(
  /** @type {[string, string[]][]} */ ([
    ["runtime/closure/codePaths.js", ["@npmcli/arborist", "fdir", "normalize-package-data"]],
    ["typescript-shim.js", ["typescript"]],
    ["index.js", ["./automation"]],
    ["cmd/run/index.js", ["source-map-support/register"]],
    ["cmd/dynamic-provider/index.js", ["source-map-support/register"]],
    [
      "cmd/run/tracing.js",
      [
        "resources",
        "sdk-trace-base",
        "exporter-zipkin",
        "instrumentation-grpc",
        "sdk-trace-node",
        "instrumentation",
      ].map((name) => `@opentelemetry/${name}`),
    ],
  ]).map(([file, ids]) => [path.normalize(`@pulumi/pulumi/${file}`), ids]),
);

/**
 * Returns a module that is loaded when one of its exports is first read.
 * @param {() => unknown} load
 */
function late(load) {
  /** @type {any} */
  let loaded;
  const get = (/** @type {unknown} */ _, /** @type {string | symbol} */ name) => {
    // Compiled imports read this property immediately.
    if (name === "__esModule") return true;
    loaded ??= load();
    return name === "default" && !loaded.__esModule ? loaded : loaded[name];
  };
  return new Proxy({}, { get });
}

const requireNow = prototype.require;
/** @type {Require} */
function requireLate(id) {
  const by = this.filename?.split(`node_modules${path.sep}`).at(-1) ?? "";
  return LATE.get(by)?.includes(id) ? late(() => requireNow.call(this, id)) : requireNow.call(this, id);
}
prototype.require = requireLate;

// Leave out programs in a stack's folder, because their paths differ in every run.
if (!main.startsWith(path.join(REPOSITORY, ".scratch") + path.sep)) prototype._compile = compileCached;
process.on("exit", writeStore);
