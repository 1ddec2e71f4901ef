import type { z } from "zod";
import { unexpectedResponse } from "./http";

/** The value in the schema's shape; throws `UnexpectedResponseError` with an excerpt when the answer has another. */
export function decode<T>(schema: z.ZodType<T>, value: unknown, operation: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw unexpectedResponse(operation, problemsOf(result.error), value);
}

/** The first of a schema's complaints. */
export function problemsOf({ issues }: z.ZodError): string {
  const problems = issues.map(({ path, message }) => `${path.join(".") || "the answer"}: ${message}`);
  return problems.slice(0, 3).join("; ");
}
