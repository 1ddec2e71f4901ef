import { type ChildProcess, spawn } from "node:child_process";
import { redact } from "../../../sdk/errors/secretText";
import { sayWhileWaiting } from "../../connection/readInTime";
import { killTree } from "./processTree";

/** The result of an engine command. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `pulumi` in a folder with exactly this environment. */
export type Pulumi = (
  args: readonly string[],
  options?: { readonly folder?: string; readonly input?: string },
) => Promise<Ended>;

/**
 * Put the engine into its own process group, so that Ctrl-C in the terminal reaches only this
 * process, which then stops the engine.
 */
const GROUP = { detached: process.platform !== "win32" };

/** How long one command of the engine may take. A program that never ends is stopped then. */
const LIMIT_MS = 600_000;

const running = new Set<ChildProcess>();
let isStopping = false;

/** Kills all running engine commands with everything that they have started. */
function stopEngines(): void {
  for (const { pid } of running) if (pid !== undefined) killTree(pid);
}

const EXIT_CODE_OF_SIGNAL = { SIGINT: 130, SIGTERM: 143 } as const;

/**
 * When this process is told to end, stops the engine, then calls `clean`, and ends. Returns a
 * function that no longer does so.
 */
export function stopOnSignals(clean: () => void = () => {}): () => void {
  const ends = Object.entries(EXIT_CODE_OF_SIGNAL).map(([signal, code]) => {
    const end = () => {
      isStopping = true;
      // Stop the engine first. Otherwise, it would continue, and write into the removed folders.
      stopEngines();
      clean();
      process.exit(code);
    };
    process.once(signal, end);
    return () => process.off(signal, end);
  });
  return () => {
    for (const end of ends) end();
  };
}

/**
 * Returns the function that runs the engine, with a line every 15 s. A command that takes longer
 * than the limit is stopped, and an error says so.
 */
export function pulumiIn(folder: string, env: NodeJS.ProcessEnv, limitMs = LIMIT_MS): Pulumi {
  return (args, options = {}) =>
    sayWhileWaiting(
      () => `pulumi ${args[0]} is still running`,
      () => runEngine(args, { folder, ...options }, env, limitMs),
    );
}

function runEngine(
  args: readonly string[],
  { folder, input = "" }: { readonly folder: string; readonly input?: string },
  env: NodeJS.ProcessEnv,
  limitMs: number,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const all = [...args, "--non-interactive", "--color", "never"];
    const child = spawn("pulumi", all, { cwd: folder, env, stdio: "pipe", ...GROUP });
    running.add(child);
    const limit = setTimeout(() => {
      if (child.pid !== undefined) killTree(child.pid);
      reject(new Error(`pulumi ${args[0]} took longer than ${limitMs / 1000} s and was stopped: ${HANGS}`));
    }, limitMs);
    const ended = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      ended.stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      ended.stderr += text;
    });
    child.on("error", ({ message, code }: NodeJS.ErrnoException) => {
      clearTimeout(limit);
      running.delete(child);
      reject(new Error(code === "ENOENT" ? "there is no pulumi on PATH" : `pulumi cannot be started: ${message}`));
    });
    child.on("close", (code) => {
      clearTimeout(limit);
      running.delete(child);
      if (!isStopping) resolve({ code, ...ended });
    });
    // A child process that exits early closes its input.
    child.stdin.on("error", () => {}).end(input);
  });
}

const HANGS = "the program does not end. Look for a wait without a time limit in it";

/**
 * Returns the standard output of a command.
 * @throws Error with the command's output if it failed
 */
export async function succeeded(what: string, running: Promise<Ended>): Promise<string> {
  const ended = await running;
  if (ended.code === 0) return ended.stdout;
  throw new Error(`${what}: ${reasonOf(ended)}`);
}

/** Lines that only repeat that something failed. */
const SUMMARY = /^(?:(?:error: )*(?:preview|update|destroy) failed|.*\*\*failed\*\*.*|\d+ errored)$/i;

/** Returns why a command failed: its error lines, or the end of its output. */
export function reasonOf({ stdout, stderr }: Ended): string {
  const lines = `${stderr}\n${errorsIn(stdout)}`.split("\n").map((line) => line.trim());
  const errors = lines
    .filter((line) => /error/i.test(line))
    .map(withName)
    .filter((line) => !SUMMARY.test(line) && !SUMMARY.test(line.replace(/^\S+: /, "")));
  // The engine prints an error with the resource's name, and again without the name.
  const named = errors.filter((line) => !errors.some((other) => other !== line && other.endsWith(bare(line))));
  const shown = named.length > 0 ? named : lines.filter((line) => line !== "").slice(-3);
  return redact([...new Set(shown)].slice(0, 6).join("; ")) || "pulumi printed no reason";
}

const bare = (line: string) => line.replace(/^(?:error: )+/, ": ");

/** Replaces the beginning of a line about a resource, such as its type, with its name. */
function withName(line: string): string {
  return line
    .replace(/^(?:[~+-]+\s+)?[\w-]+:\S+\s+(\S+)\s.*?\berror: /, "$1: ")
    .replace(/^(?:error: )+(?=error: )/, "");
}

/** The JSON of a preview contains errors as diagnostics. */
function errorsIn(stdout: string): string {
  try {
    const { diagnostics = [] } = JSON.parse(stdout) as { diagnostics?: { severity?: string; message?: string }[] };
    return diagnostics.map(({ severity, message }) => (severity === "error" ? `error: ${message}` : "")).join("\n");
  } catch {
    return stdout;
  }
}
