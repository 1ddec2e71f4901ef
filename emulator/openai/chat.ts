import { isRecord, SSE_DONE, sseEvent } from "./openAiJob";
import {
  choiceCount,
  contentText,
  countTokens,
  EchoRefusal,
  modelOf,
  type Reply,
  type ReplyContext,
  repeat,
  usageOf,
  wantsUsage,
} from "./reply";

/** Replies to `/v1/chat/completions`. */
export function chat(body: Readonly<Record<string, unknown>>, { jobId, created }: ReplyContext): Reply {
  const { messages } = body;
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isMessage)) {
    throw new EchoRefusal("messages", "must be a list of messages, each with a role");
  }
  const texts = messages.map(({ content }) => contentText(content));
  const said = repeat(texts.at(-1) ?? "", body.max_completion_tokens ?? body.max_tokens);
  const indexes = Array.from({ length: choiceCount(body.n) }, (_, index) => index);
  const base = { id: `chatcmpl-${jobId}`, created, model: modelOf(body) };
  const usage = usageOf(countTokens(texts.join(" ")), said.words.length * indexes.length);

  function* events(): Generator<string> {
    const chunk = { ...base, object: "chat.completion.chunk" };
    const more = wantsUsage(body) ? { usage: null } : {};
    const piece = (index: number, delta: object, finish_reason: string | null = null) =>
      sseEvent({ ...chunk, choices: [{ index, delta, logprobs: null, finish_reason }], ...more });
    for (const index of indexes) yield piece(index, { role: "assistant", content: "" });
    for (const word of said.words) for (const index of indexes) yield piece(index, { content: word });
    for (const index of indexes) yield piece(index, {}, said.finish);
    if (wantsUsage(body)) yield sseEvent({ ...chunk, choices: [], usage });
    yield SSE_DONE;
  }

  const message = { role: "assistant", content: said.words.join(""), refusal: null };
  const choices = indexes.map((index) => ({ index, message, logprobs: null, finish_reason: said.finish }));
  return { whole: { ...base, object: "chat.completion", choices, usage }, events };
}

function isMessage(value: unknown): value is { readonly role: string; readonly content?: unknown } {
  return isRecord(value) && typeof value.role === "string";
}
