import { execFile } from "node:child_process";
import { redact } from "../sdk/errors/secretText";

const TIMEOUT_MS = 10_000;
/** Enough for a large state. */
const MAX_OUTPUT_BYTES = 1_000_000_000;

/** A value, or the reason why it could not be determined. */
export type Learned<T> = { readonly value: T } | { readonly problem: string };

/**
 * Runs the `pulumi` on PATH. Resolves to its standard output, or to a problem that includes what it
 * printed.
 */
export function pulumi(
  args: readonly string[],
  folder: string,
  timeout = TIMEOUT_MS,
  env: Readonly<Record<string, string>> = {},
): Promise<Learned<string>> {
  const options = {
    cwd: folder,
    timeout,
    maxBuffer: MAX_OUTPUT_BYTES,
    env: { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true", ...env },
  };
  return new Promise((resolve) => {
    execFile("pulumi", [...args, "--non-interactive", "--color", "never"], options, (error, stdout, stderr) => {
      if (!error) resolve({ value: stdout });
      else if (error.code === "ENOENT") resolve({ problem: "there is no pulumi on PATH" });
      else if (error.killed) resolve({ problem: `pulumi ${args[0]} took longer than ${timeout / 1000} s` });
      else resolve({ problem: redact(lastLine(stderr) ?? `pulumi ${args[0]}: ${error.message}`) });
    }).stdin?.end();
  });
}

/** Runs a `pulumi` command that prints JSON. The JSON is not checked against the type `T`. */
export async function pulumiJson<T>(
  args: readonly string[],
  folder: string,
  timeout?: number,
  env?: Readonly<Record<string, string>>,
): Promise<Learned<T>> {
  const output = await pulumi(args, folder, timeout, env);
  if ("problem" in output) return output;
  try {
    return { value: JSON.parse(output.value) as T };
  } catch {
    return { problem: `pulumi ${args.join(" ")} printed no JSON` };
  }
}

function lastLine(text: string): string | undefined {
  return (
    text
      .trim()
      .split("\n")
      .at(-1)
      ?.replace(/^error: /, "") || undefined
  );
}
