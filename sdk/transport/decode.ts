import type { z } from "zod";
import { unexpectedResponse } from "./responseErrors";

/**
 * Validates a value against the schema and returns it.
 * @throws UnexpectedResponseError with an excerpt if the response has a different shape
 */
export function decode<T>(schema: z.ZodType<T>, value: unknown, operation: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw unexpectedResponse(operation, schemaProblems(result.error), value);
}

/** Returns the first three problems found by a schema. */
export function schemaProblems({ issues }: z.ZodError): string {
  const problems = issues.map(({ path, message }) => `${path.join(".") || "the response"}: ${message}`);
  return problems.slice(0, 3).join("; ");
}
