import { z } from "zod";

/** Checks input that comes from a file or over HTTP. Throws a TypeError that names every wrong field. */
export function validate<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  throw new TypeError(`${what} is not well formed.\n${z.prettifyError(error)}`);
}
