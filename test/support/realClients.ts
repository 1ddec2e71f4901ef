import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { REPOSITORY } from "./sources";

const folder = path.join(REPOSITORY, ".scratch/clients");
const python = path.join(folder, "python/venv/bin/python");

/** The official clients and the worker library, if `npm run clients:install` has installed them. */
export const INSTALLED = {
  python: existsSync(path.join(folder, "python/installed")),
  node: existsSync(path.join(folder, "node/installed")),
};

/**
 * Declares tests that use the packages. Without them they are skipped by name, but not where
 * `REQUIRE_CLIENTS` is set.
 */
export function describeClients(language: keyof typeof INSTALLED, title: string, tests: () => void): void {
  if (INSTALLED[language] || process.env.REQUIRE_CLIENTS) describe(title, tests);
  else describe.skip(`${title} (npm run clients:install installs what these tests need)`, tests);
}

export const WORKER_PYTHON = python;

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program in Python or Node.js with the packages, and resolves with its last line of output,
 * parsed as JSON.
 */
export async function runClient(
  language: keyof typeof INSTALLED,
  program: string,
  env: Readonly<Record<string, string>>,
  // biome-ignore lint/suspicious/noExplicitAny: each program prints what it wants
): Promise<any> {
  const [command, args] = language === "python" ? [python, ["-c", program]] : [process.execPath, ["-e", program]];
  const child = spawn(command, args as string[], {
    cwd: path.join(folder, language),
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended: Promise<Ended> = Promise.all([
    new Promise<number | null>((resolve) => child.once("close", resolve)),
    text(child.stdout),
    text(child.stderr),
  ]).then(([code, stdout, stderr]) => ({ code, stdout, stderr }));
  const { code, stdout, stderr } = await ended;
  if (code !== 0) throw new Error(`${language} ended with ${code}:\n${stdout}\n${stderr}`);
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "null");
}
