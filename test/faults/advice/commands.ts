import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { PulumiStack } from "../../pulumi/harness";
import { printed } from "./play";

export const MAIN = path.resolve(__dirname, "../../../dist/cli/main.js");

/** Runs a line in a shell in which `npx pulumi-serverless-gpu` is this build's command. */
export async function shell(stack: PulumiStack, line: string, env: Readonly<Record<string, string>> = {}) {
  const bin = path.join(stack.scratch, "bin");
  await mkdir(bin, { recursive: true });
  await writeFile(path.join(bin, "npx"), `#!/bin/sh\nshift\nexec ${process.execPath} ${MAIN} "$@"\n`, { mode: 0o755 });
  const named = line.replace(/^npx /, `${bin}/npx `);
  return stack.exec("sh", ["-c", named], { env });
}

export async function shellSucceeds(stack: PulumiStack, line: string, env: Readonly<Record<string, string>> = {}) {
  const result = await shell(stack, line, env);
  expect([line, result.exitCode, result.output]).toEqual([line, 0, expect.any(String)]);
  return result;
}

export interface Check {
  readonly status: string;
  readonly found: string;
  readonly fix?: string;
}

export async function doctor(stack: PulumiStack, env: Readonly<Record<string, string>> = {}) {
  const { stdout } = await stack.exec(process.execPath, [MAIN, "doctor", "--json"], { env });
  const { checks } = JSON.parse(stdout) as { readonly checks: readonly (Check & { readonly check: string })[] };
  return (name: string) => checks.find(({ check }) => check === name) as Check;
}

export const fixOf = (check: Check, says: RegExp) => printed({ output: `${check.found}\n${check.fix}` }, says);
