/**
 * The input of a job that `/openai/*` submits. Its names are those that public workers read, such
 * as RunPod's worker for vLLM.
 */
export interface OpenAiInput {
  /** The path after `/openai`: `/v1/chat/completions`. */
  readonly openai_route: string;
  /** The body of the request; empty for one without a body. */
  readonly openai_input: Readonly<Record<string, unknown>>;
}

/** An error of an OpenAI-compatible server. */
export interface OpenAiError {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    /** The status of the response. */
    readonly code: number;
  };
}

/** The types of errors, by status, as vLLM names them. */
const ERROR_TYPES: Readonly<Record<number, string>> = { 400: "BadRequestError", 404: "NotFoundError" };

export function openAiError(code: number, message: string, param: string | null = null): OpenAiError {
  return { error: { message, type: ERROR_TYPES[code] ?? "InternalServerError", param, code } };
}

/**
 * Returns the status if an output is an error of an OpenAI-compatible server, otherwise
 * `undefined`.
 */
export function errorStatusOf(output: unknown): number | undefined {
  if (!isRecord(output) || !isRecord(output.error)) return undefined;
  const { code } = output.error;
  return typeof code === "number" && code >= 400 && code < 600 ? code : 400;
}

/** Returns `true` for the input of a job that `/openai/*` submitted. */
export function isOpenAiInput(
  input: Readonly<Record<string, unknown>>,
): input is Record<string, unknown> & OpenAiInput {
  return typeof input.openai_route === "string" && isRecord(input.openai_input);
}

/** Returns a server-sent event with `value` as JSON. */
export function sseEvent(value: unknown, name?: string): string {
  return `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(value)}\n\n`;
}

/** The event that ends a stream. */
export const SSE_DONE = "data: [DONE]\n\n";

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
