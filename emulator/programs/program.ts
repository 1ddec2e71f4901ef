import { z } from "zod";
import { validate } from "../io/validate";

/**
 * A worker program in any language. The emulator starts one process per worker. The program fetches
 * its jobs through RunPod's worker protocol, as it would in one of RunPod's containers. Requires
 * Linux or macOS, and a real clock.
 */
export interface WorkerProgram {
  /**
   * A command for `/bin/sh`, such as `python handler.py`. In a list of commands, put `exec` before
   * the last one, or it cannot shut down cleanly.
   */
  readonly command: string;
  /** The folder to run the command in. @default the emulator's working folder */
  readonly cwd?: string | undefined;
  /**
   * Environment variables to set in addition to `PATH`, the locale, the time zone and the variables
   * of the worker protocol. The worker inherits no others.
   * @default none
   */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /**
   * How many jobs a worker may have at the same time (integer, ≥ 1).
   * @default as many as it asks for
   */
  readonly concurrency?: number | undefined;
  /**
   * How long a worker may take to exit after SIGTERM before it is killed, in milliseconds, ≥ 0.
   * @default 10000
   */
  readonly stopMs?: number | undefined;
}

const schema = z.strictObject({
  command: z.string().refine((command) => command.trim() !== "", "must not be empty"),
  cwd: z.string().min(1).optional(),
  env: z.record(z.string().regex(/^[A-Za-z_]\w*$/), z.string()).optional(),
  concurrency: z.int().min(1).optional(),
  stopMs: z.number().min(0).optional(),
}) satisfies z.ZodType<WorkerProgram>;

/**
 * Validates a program given by the user.
 * @param what how the message refers to the program, such as `handlers.llama`
 * @throws TypeError that names every invalid field without showing a value
 */
export function checkProgram(value: unknown, what: string): WorkerProgram {
  return validate(schema, value, what);
}
