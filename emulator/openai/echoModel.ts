import { isRecord, type OpenAiInput, openAiError, SSE_DONE, sseEvent } from "./openAiJob";

/** Data for a reply that is not in the request. */
interface ReplyContext {
  /** The job's id, which the id of the reply is based on. */
  readonly jobId: string;
  /** The time of the reply, in seconds since the epoch. */
  readonly created: number;
}

/** The model's id. */
const MODEL = "emulated-model";
const MODELS = "/v1/models";

/**
 * Responds like a worker that runs an OpenAI-compatible server with a chat model that repeats the
 * last message. Yields the whole response or, with `stream: true`, its server-sent events.
 */
export function* echoModel({ openai_route, openai_input }: OpenAiInput, context: ReplyContext): Generator<unknown> {
  if (openai_route === MODELS || openai_route.startsWith(`${MODELS}/`)) {
    yield models(openai_route.slice(MODELS.length + 1), context);
  } else if (openai_route === "/v1/chat/completions") {
    yield* chat(openai_input, context);
  } else {
    yield openAiError(404, `The path ${openai_route} does not exist.`);
  }
}

function models(id: string, { created }: ReplyContext): unknown {
  const model = { id: MODEL, object: "model", created, owned_by: "emulator" };
  if (id === "") return { object: "list", data: [model] };
  return id === MODEL ? model : openAiError(404, `The model ${id} does not exist.`, "model");
}

function* chat(body: OpenAiInput["openai_input"], { jobId, created }: ReplyContext): Generator<unknown> {
  const { messages, model = MODEL, n } = body;
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isMessage)) {
    return yield openAiError(400, "messages: must be a list of messages, each with a role", "messages");
  }
  const choiceCount = Number(n ?? 1);
  if (!Number.isInteger(choiceCount) || choiceCount < 1 || choiceCount > 128) {
    return yield openAiError(400, "n: must be a whole number from 1 to 128", "n");
  }
  const texts = messages.map(({ content }) => contentText(content));
  const all = texts.at(-1)?.match(/\s*\S+/g) ?? [];
  const words = all.slice(0, Number(body.max_completion_tokens ?? body.max_tokens ?? all.length));
  const finish_reason = words.length < all.length ? "length" : "stop";
  const indexes = Array.from({ length: choiceCount }, (_, index) => index);
  const base = { id: `chatcmpl-${jobId}`, created, model };
  const prompt_tokens = texts.join(" ").match(/\S+/g)?.length ?? 0;
  const completion_tokens = words.length * choiceCount;
  const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
  if (body.stream !== true) {
    const message = { role: "assistant", content: words.join(""), refusal: null };
    const choices = indexes.map((index) => ({ index, message, logprobs: null, finish_reason }));
    return yield { ...base, object: "chat.completion", choices, usage };
  }
  const wantsUsage = isRecord(body.stream_options) && body.stream_options.include_usage === true;
  const chunk = { ...base, object: "chat.completion.chunk", ...(wantsUsage && { usage: null }) };
  const piece = (index: number, delta: object, finish_reason: string | null = null) =>
    sseEvent({ ...chunk, choices: [{ index, delta, logprobs: null, finish_reason }] });
  for (const index of indexes) yield piece(index, { role: "assistant", content: "" });
  for (const word of words) for (const index of indexes) yield piece(index, { content: word });
  for (const index of indexes) yield piece(index, {}, finish_reason);
  if (wantsUsage) yield sseEvent({ ...chunk, choices: [], usage });
  yield SSE_DONE;
}

function isMessage(value: unknown): value is { readonly role: string; readonly content?: unknown } {
  return isRecord(value) && typeof value.role === "string";
}

/** Returns the text of a message's content, which is a string or a list of parts. */
function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (isRecord(part) && typeof part.text === "string" ? part.text : "")).join("");
}
