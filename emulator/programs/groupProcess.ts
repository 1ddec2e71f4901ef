import { type ChildProcess, spawn } from "node:child_process";
import { systemClock } from "../../sdk/contract/clock";
import { systemReason } from "../io/systemReason";

interface GroupProcessOptions {
  readonly command: string;
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** The time between SIGTERM and SIGKILL, in milliseconds. */
  readonly stopMs: number;
  onLine(stream: "stdout" | "stderr", line: string): void;
  /**
   * Called once, when the process has ended or could not be started. No process of its group
   * remains.
   */
  onEnd(reason: string): void;
}

/** A process in its own process group. */
export interface GroupProcess {
  /** Asks the group to exit, and kills it if it does not exit in time. */
  stop(): void;
  /** Kills the group. */
  kill(): void;
  /** Suspends everything in the group except its watcher until the group is killed. */
  freeze(): void;
}

/**
 * Runs a command after starting a watcher in the same process group. When the emulator ends, even
 * by SIGKILL, file descriptor 3 closes and the watcher kills the group. The watcher first writes
 * its process id to the descriptor.
 */
const WATCHED =
  "(trap '' HUP INT TERM; read -r _ <&3; kill -KILL 0) </dev/null >/dev/null 2>&1 & " +
  'echo $! >&3; exec 3<&-; exec /bin/sh -c "$1"';

/**
 * A command line that runs a single program, without a list, pipe, group, assignment or shell
 * builtin.
 */
const ONE_PROGRAM = /^(?!\s*(?:exec|eval|source|set|export|cd|\.)\s)\s*[^\s=;&|()\n]+(?:[ \t][^;&|()\n]*)?$/;

/**
 * Makes the program replace the shell, so that signals reach the program. Not every shell does this
 * on its own.
 */
function replacingShell(command: string): string {
  return ONE_PROGRAM.test(command) ? `exec ${command}` : command;
}

/** Longer lines are split, so that a worker that prints no line breaks cannot fill the memory. */
const LONGEST_LINE = 8192;

export function startGroupProcess(options: GroupProcessOptions): GroupProcess {
  const { command, cwd, env, stopMs } = options;
  const child = spawn("/bin/sh", ["-c", WATCHED, "sh", replacingShell(command)], {
    cwd,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  let ended = false;
  let cancelKill: (() => void) | undefined;
  let watcherPid: number | undefined;

  function signal(name: NodeJS.Signals, pid = -(child.pid ?? 0)): void {
    if (ended || child.pid === undefined) return;
    try {
      process.kill(pid, name);
    } catch {
      // The group has ended on its own.
    }
  }

  function end(reason: string): void {
    if (ended) return;
    // Kill the watcher and all other processes that the worker left behind, such as one that sends
    // pings.
    signal("SIGKILL");
    ended = true;
    cancelKill?.();
    child.stdio[3]?.destroy();
    options.onEnd(reason);
  }

  child.once("error", (error) => end(`cannot be started: ${startProblem(error, cwd)}`));
  child.once("exit", (code, by) => end(by ? `was ended by ${by}` : `ended with exit code ${code}`));
  child.stdio[3]?.once("data", (line: Buffer) => {
    watcherPid = Number(line.toString());
  });
  // The other end of the watcher's pipe may be reset.
  child.stdio[3]?.on("error", () => {});
  forwardLines(child, options.onLine);

  return {
    stop() {
      if (ended || cancelKill) return;
      signal("SIGTERM");
      cancelKill = systemClock.schedule(stopMs, () => signal("SIGKILL"));
    },
    kill: () => signal("SIGKILL"),
    freeze() {
      signal("SIGSTOP");
      if (watcherPid) signal("SIGCONT", watcherPid);
    },
  };
}

/** Node.js reports a missing folder as a missing program. */
function startProblem(error: Error, cwd: string | undefined): string {
  return `${systemReason(error)} (/bin/sh${cwd === undefined ? "" : `, or the folder ${cwd}`})`;
}

function forwardLines(child: ChildProcess, onLine: GroupProcessOptions["onLine"]): void {
  for (const stream of ["stdout", "stderr"] as const) {
    const input = child[stream];
    if (!input) continue;
    let rest = "";
    /** Forwards a long line except for its last part, which is returned. */
    const forwardParts = (line: string) => {
      let part = line;
      for (; part.length > LONGEST_LINE; part = part.slice(LONGEST_LINE)) onLine(stream, part.slice(0, LONGEST_LINE));
      return part;
    };
    input.setEncoding("utf8");
    input.on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      const last = lines.pop() ?? "";
      for (const line of lines) onLine(stream, forwardParts(line));
      rest = forwardParts(last);
    });
    input.once("end", () => {
      if (rest !== "") onLine(stream, rest);
    });
    input.on("error", () => {});
  }
}
