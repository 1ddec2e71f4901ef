/**
 * The input of a job submitted by `/openai/*`. The field names are those that public workers read,
 * such as RunPod's vLLM worker.
 */
export interface OpenAiInput {
  /** The path after `/openai`, such as `/v1/chat/completions`. */
  readonly openai_route: string;
  /** The request body; empty if there is none. */
  readonly openai_input: Readonly<Record<string, unknown>>;
}

/** An error of an OpenAI-compatible server. */
interface OpenAiError {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    /** The response status. */
    readonly code: number;
  };
}

/** Error types by status, as vLLM names them. */
const ERROR_TYPES: Readonly<Record<number, string>> = { 400: "BadRequestError", 404: "NotFoundError" };

export function openAiError(code: number, message: string, param: string | null = null): OpenAiError {
  return { error: { message, type: ERROR_TYPES[code] ?? "InternalServerError", param, code } };
}

/** Returns the status if an output is an OpenAI-compatible error; otherwise `undefined`. */
export function errorStatusOf(output: unknown): number | undefined {
  if (!isRecord(output) || !isRecord(output.error)) return undefined;
  const { code } = output.error;
  return typeof code === "number" && code >= 400 && code < 600 ? code : 400;
}

/** Returns `true` if `/openai/*` submitted the job with this input. */
export function isOpenAiInput(
  input: Readonly<Record<string, unknown>>,
): input is Record<string, unknown> & OpenAiInput {
  return typeof input.openai_route === "string" && isRecord(input.openai_input);
}

/** Returns a server-sent event with `value` as JSON. */
export function sseEvent(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** The event that ends a stream. */
export const SSE_DONE = "data: [DONE]\n\n";

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
