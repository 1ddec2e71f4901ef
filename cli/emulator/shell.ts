import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pageUrlOf } from "./environment";

const SHELLS = ["ash", "bash", "dash", "fish", "ksh", "sh", "zsh"];

/**
 * How to start an interactive shell: its arguments, additional environment variables, and a
 * function to call when it exits.
 */
interface Shell {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  end(): void;
}

/** Returns `true` if the command opens an interactive shell rather than running a script. */
export function opensShell(program: string, args: readonly string[]): boolean {
  return args.length === 0 && SHELLS.includes(path.basename(program));
}

/**
 * Changes the shell's prompt to show that it uses an emulator. Shells other than bash may keep
 * their own prompt.
 */
export function shellWithPrompt(program: string): Shell {
  if (path.basename(program) !== "bash") return { args: [], env: { PS1: "(emulator) $ " }, end() {} };
  const folder = mkdtempSync(path.join(tmpdir(), "serverless-gpu-shell-"));
  const file = path.join(folder, "bashrc");
  writeFileSync(file, 'if [ -f ~/.bashrc ]; then . ~/.bashrc; fi\nPS1="(emulator) $PS1"\n');
  return { args: ["--rcfile", file], env: {}, end: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Returns the message to print when the shell opens. */
export function greeting(url: string, dataFile: string | undefined): string {
  const data = dataFile === undefined ? "its data is lost" : `${dataFile} keeps its data`;
  return (
    `Programs in this shell use an emulator of the service: ${url}\nIts page: ${pageUrlOf(url)}\n` +
    `When you leave the shell (exit), the emulator stops, and ${data}.\n`
  );
}
