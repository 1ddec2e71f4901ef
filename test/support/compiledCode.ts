import path from "node:path";

/**
 * Environment that makes a Node.js process and its child processes cache compiled code, and load
 * rarely used packages lazily. It saves more than a third of an `up`'s processor time. The tests of
 * documents and of the installed package run without it, as users do.
 */
export const COMPILE_CACHE = {
  NODE_OPTIONS: `--require ${JSON.stringify(path.join(__dirname, "compileCache.js"))}`,
  COMPILE_CACHE: path.resolve(__dirname, "../../.scratch/compile-cache"),
};

/** The arguments with which `rehearse` passes that environment on to the copy's engine. */
export const REHEARSE_COMPILED = ["--env", ...Object.keys(COMPILE_CACHE)];
