import { type ChildProcess, spawn } from "node:child_process";
import { redact } from "../../../sdk/errors/secretText";

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
 * process, which then ends the group.
 */
const GROUP = { detached: process.platform !== "win32" };

const running = new Set<ChildProcess>();

/** Kills all running engine commands. They only write to the copy, so nothing is lost. */
export function stopEngines(): void {
  for (const child of running) {
    try {
      if (child.pid !== undefined && process.platform !== "win32") process.kill(-child.pid, "SIGKILL");
      else child.kill("SIGKILL");
    } catch {
      // The process has just ended.
    }
  }
}

/** Returns the function that runs the rehearsal's engine. */
export function pulumiIn(folder: string, env: Readonly<Record<string, string>>): Pulumi {
  return (args, options = {}) =>
    new Promise((resolve, reject) => {
      const all = [...args, "--non-interactive", "--color", "never"];
      const child = spawn("pulumi", all, { cwd: options.folder ?? folder, env, stdio: "pipe", ...GROUP });
      running.add(child);
      const ended = { stdout: "", stderr: "" };
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        ended.stdout += text;
      });
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        ended.stderr += text;
      });
      child.on("error", (error) => reject(new Error(`pulumi cannot be started: ${error.message}`)));
      child.on("close", (code) => {
        running.delete(child);
        resolve({ code, ...ended });
      });
      // A child process that exits early closes its input.
      child.stdin.on("error", () => {}).end(options.input ?? "");
    });
}

/**
 * Returns the standard output of a command.
 * @throws Error with the command's output if it failed
 */
export async function succeeded(what: string, running: Promise<Ended>): Promise<string> {
  const ended = await running;
  if (ended.code === 0) return ended.stdout;
  throw new Error(`${what}: ${reasonOf(ended)}`);
}

/** Returns why a command failed: its error lines, or the end of its output. */
export function reasonOf({ stdout, stderr }: Ended): string {
  const lines = `${stderr}\n${errorsIn(stdout)}`.split("\n").map((line) => line.trim());
  const errors = lines.filter((line) => /error/i.test(line) && !/^error: (preview|update) failed$/.test(line));
  const shown = errors.length > 0 ? errors : lines.filter((line) => line !== "").slice(-3);
  return redact([...new Set(shown)].slice(0, 6).join("; ")) || "pulumi printed no reason";
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
