import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { text } from "node:stream/consumers";
import { assertBuilt } from "../../tools/sourcesOfBuild";
import { COMPILE_CACHE } from "../support/compiledCode";

// A test of an older build would pass whatever the sources say.
assertBuilt();

/** The built command line. */
export const MAIN = path.resolve(__dirname, "../../dist/cli/main.js");

/** Starts the command in a folder. */
export const startIn = (cwd: string, ...args: string[]) =>
  spawn(process.execPath, [MAIN, ...args], {
    cwd,
    env: { ...process.env, ...COMPILE_CACHE },
    stdio: ["ignore", "pipe", "pipe"],
  });

export const start = (...args: string[]) => startIn(process.cwd(), ...args);

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Resolves when a process has ended. */
export async function ended(child: ChildProcess): Promise<Ended> {
  const outputs = [text(child.stdout as NodeJS.ReadableStream), text(child.stderr as NodeJS.ReadableStream)];
  const [[code], stdout = "", stderr = ""] = await Promise.all([once(child, "close"), ...outputs]);
  return { code, stdout, stderr };
}

export const run = (...args: string[]) => ended(start(...args));

export async function firstOutput(child: ChildProcess): Promise<string> {
  const [chunk] = await once(child.stdout as NodeJS.ReadableStream, "data");
  return String(chunk);
}
