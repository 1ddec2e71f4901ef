import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { systemReason } from "../io/systemReason";
import { checkProgram, type WorkerProgram } from "../programs/program";
import { isHttpHandler } from "./httpHandler";
import type { Handler, Handlers } from "./jobHandlers";

const LOADABLE = /\.[cm]?[jt]s$/;
const TYPES_ONLY = /\.d\.[cm]?ts$/;
const NOT_LOADABLE = /\.[jt]sx$/;

/**
 * Loads the handlers in a folder. Each `<name>.js`, `.cjs`, `.mjs` or, with Node.js 22.18 or later,
 * `.ts` file exports one handler, either as the module itself, as `default` or as `handler`.
 * Instead of a function, a file can export a worker program. Its `cwd` is relative to the folder
 * and defaults to the folder.
 * @throws Error if the folder cannot be read or contains no handlers, if two files have the same
 * name, or if a file cannot be loaded or exports neither a function nor a program
 */
export function loadHandlers(folder: string): Handlers {
  const files = Object.entries(handlerFiles(folder));
  return Object.fromEntries(files.map(([name, file]) => [name, handlerOf(file, load(file))]));
}

/** Returns the paths of a folder's handlers, by handler name. */
export function handlerFiles(folder: string): Readonly<Record<string, string>> {
  const all = filesOf(folder);
  const wrong = all.find((file) => NOT_LOADABLE.test(file));
  if (wrong !== undefined)
    throw new Error(`${path.join(folder, wrong)} cannot be loaded as a handler: handlers are ${KINDS} files`);
  const found = new Map<string, string>();
  for (const file of all.filter((file) => LOADABLE.test(file) && !TYPES_ONLY.test(file))) {
    const name = file.replace(LOADABLE, "");
    const other = found.get(name);
    if (other !== undefined)
      throw new Error(`${other} and ${file} in ${folder} are both the handler of "${name}": remove one of them`);
    found.set(name, file);
  }
  if (found.size === 0)
    throw new Error(
      `the handlers' folder ${folder} contains no handlers: <endpoint name or template id> with ${KINDS}`,
    );
  return Object.fromEntries([...found].map(([name, file]) => [name, path.resolve(folder, file)]));
}

const KINDS = ".js, .cjs, .mjs or .ts";

/**
 * Returns the handler that a file exports.
 * @throws Error if it exports none
 */
export function handlerOf(file: string, exported: unknown): Handlers[string] {
  // When a CommonJS file is imported, its exports are the default export.
  const modules = [exported, property(exported, "default")];
  const candidates = modules.flatMap((it) => [it, property(it, "default"), property(it, "handler")]);
  const handler = candidates.find((candidate) => typeof candidate === "function");
  if (handler) return handler as Handler;
  const server = candidates.find(isHttpHandler);
  if (server) return server;
  const program = candidates.find((candidate) => property(candidate, "command") !== undefined);
  if (program) return inFolder(checkProgram(program, `The program in ${file}`), path.dirname(file));
  throw new Error(
    `${file} exports no handler. Export a function: module.exports = async (job) => ({ ok: true }); ` +
      "the HTTP server of a load-balancing endpoint: module.exports = { fetch: (request) => new Response() }; " +
      'or a worker program: module.exports = { command: "python handler.py" };',
  );
}

/** Returns the error for a file that cannot be loaded. */
export function notLoaded(file: string, cause: unknown): Error {
  const reason =
    /\.[cm]?ts$/.test(file) && !stripsTypes()
      ? `Node.js ${process.versions.node} cannot run TypeScript. Use Node.js 22.18 or later, or compile it to JavaScript`
      : String(cause);
  return new Error(`the handler ${file} cannot be loaded: ${reason}`, { cause });
}

function stripsTypes(): boolean {
  return Boolean((process.features as { readonly typescript?: unknown }).typescript);
}

function filesOf(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (cause) {
    throw new Error(`the handlers' folder ${folder} cannot be read: ${systemReason(cause)}`, { cause });
  }
}

function inFolder(program: WorkerProgram, folder: string): WorkerProgram {
  return { ...program, cwd: path.resolve(folder, program.cwd ?? ".") };
}

function load(file: string): unknown {
  try {
    return createRequire(file)(file);
  } catch (cause) {
    throw notLoaded(file, cause);
  }
}

function property(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
