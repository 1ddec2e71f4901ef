import { z } from "zod";

/**
 * Validates input from a file or request.
 * @throws TypeError that names every invalid field
 */
export function validate<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  throw new TypeError(`${what} is not well formed.\n${z.prettifyError(error)}`);
}
