import path from "node:path";

/**
 * Environment with which a Node.js process, and those that it starts, keep and reuse compiled code,
 * and load late what few of them need. It saves an `up` more than a third of its processor time.
 * The tests of documents and of the installed package run without it, as users do.
 */
export const COMPILE_CACHE = {
  NODE_OPTIONS: `--require ${JSON.stringify(path.join(__dirname, "compileCache.js"))}`,
  COMPILE_CACHE: path.resolve(__dirname, "../../.scratch/compile-cache"),
};

/** The arguments with which `rehearse` passes that environment on to the copy's engine. */
export const REHEARSE_COMPILED = ["--env", ...Object.keys(COMPILE_CACHE)];
