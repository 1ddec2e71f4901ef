import { type ChildProcess, spawn } from "node:child_process";
import { systemClock } from "../../sdk/contract/clock";
import { systemReason } from "../io/systemReason";

export interface GroupProcessOptions {
  readonly command: string;
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** The time between SIGTERM and SIGKILL, in milliseconds. */
  readonly stopMs: number;
  onLine(stream: "stdout" | "stderr", line: string): void;
  /**
   * Called once, when the process has ended or could not be started. No process of its group is
   * left.
   */
  onEnd(reason: string): void;
}

/** A process with a process group of its own. */
export interface GroupProcess {
  /** Asks the group to exit, and kills it if it has not done so in time. */
  stop(): void;
  /** Kills the group. */
  kill(): void;
  /**
   * Suspends everything in the group except its watcher, so that it does nothing until it is
   * killed.
   */
  freeze(): void;
}

/**
 * Runs a command after a watcher in the same group was started: when the emulator ends, even by
 * SIGKILL, file descriptor 3 closes, and the watcher kills the group. Before that, the watcher's
 * process id is written to it.
 */
const WATCHED =
  "(trap '' HUP INT TERM; read -r _ <&3; kill -KILL 0) </dev/null >/dev/null 2>&1 & " +
  'echo $! >&3; exec 3<&-; exec /bin/sh -c "$1"';

/**
 * A command line that starts one program: no list, pipe, group or assignment, and no builtin of the
 * shell.
 */
const ONE_PROGRAM = /^(?!\s*(?:exec|eval|source|set|export|cd|\.)\s)\s*[^\s=;&|()\n]+(?:[ \t][^;&|()\n]*)?$/;

/**
 * Returns a command line in which the program replaces the shell, so that the signals of its
 * process are those of the program. Not every shell does so on its own.
 */
export function replacingShell(command: string): string {
  return ONE_PROGRAM.test(command) ? `exec ${command}` : command;
}

/** A longer line is split. A worker that prints without line breaks must not fill the memory. */
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
      // The group has ended by itself.
    }
  }

  function end(reason: string): void {
    if (ended) return;
    // The watcher, and whatever the worker left behind, such as a process that sends pings.
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

/** Node reports a missing folder as a missing program. */
function startProblem(error: Error, cwd: string | undefined): string {
  return `${systemReason(error)} (/bin/sh${cwd === undefined ? "" : `, or the folder ${cwd}`})`;
}

function forwardLines(child: ChildProcess, onLine: GroupProcessOptions["onLine"]): void {
  for (const stream of ["stdout", "stderr"] as const) {
    const input = child[stream];
    if (!input) continue;
    let rest = "";
    /** Forwards a long line up to its last part, and returns that. */
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
