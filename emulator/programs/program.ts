import { z } from "zod";
import { validate } from "../io/validate";

/**
 * A worker program, in any language. The emulator starts it once for each worker, and it takes its
 * jobs over the service's worker protocol, as in one of the service's containers. Needs Linux or
 * macOS, and a real clock.
 */
export interface WorkerProgram {
  /**
   * A command for `/bin/sh`, such as `python handler.py`. In a list of commands, put `exec` before
   * the last one: only then can it shut down cleanly.
   */
  readonly command: string;
  /** The folder that the command runs in. @default the folder of the emulator's process */
  readonly cwd?: string | undefined;
  /**
   * Environment variables in addition to `PATH`, the locale, the time zone and those of the worker
   * protocol. The worker inherits no others.
   * @default none
   */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /**
   * The number of jobs that a worker may have at once: an integer, ≥ 1.
   * @default as many as it asks for
   */
  readonly concurrency?: number | undefined;
  /**
   * How long a worker may take to exit after SIGTERM, in milliseconds, ≥ 0. Then it is killed.
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
 * Checks a program that a user gave.
 * @param what what the message calls the program, such as `handlers.llama`
 * @throws TypeError that names every wrong field, but shows no value
 */
export function checkProgram(value: unknown, what: string): WorkerProgram {
  return validate(schema, value, what);
}
