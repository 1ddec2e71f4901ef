import type { z } from "zod";
import { unexpectedResponse } from "./http";

/** The value in the schema's shape; throws `UnexpectedResponseError` with an excerpt when the answer has another. */
export function decode<T>(schema: z.ZodType<T>, value: unknown, operation: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => `${path.join(".") || "the answer"}: ${message}`);
  throw unexpectedResponse(operation, problems.slice(0, 3).join("; "), value);
}
