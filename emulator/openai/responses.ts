import { isRecord, sseEvent } from "./openAiJob";
import { contentText, countTokens, EchoRefusal, modelOf, type Reply, type ReplyContext, repeat } from "./reply";

/** Replies to `/v1/responses`. */
export function responses(body: Readonly<Record<string, unknown>>, { jobId, created }: ReplyContext): Reply {
  const texts = textsOf(body.input);
  const { words, finish } = repeat(texts.at(-1) ?? "", body.max_output_tokens);
  const isComplete = finish === "stop";
  const item = { id: `msg_${jobId}`, type: "message", role: "assistant" };
  const [input_tokens, output_tokens] = [countTokens(texts.join(" ")), words.length];
  const base = {
    id: `resp_${jobId}`,
    object: "response",
    created_at: created,
    model: modelOf(body),
    error: null,
    instructions: body.instructions ?? null,
    metadata: body.metadata ?? {},
    parallel_tool_calls: true,
    temperature: body.temperature ?? 1,
    tool_choice: body.tool_choice ?? "auto",
    tools: body.tools ?? [],
    top_p: body.top_p ?? 1,
  };
  const part = (text: string) => ({ type: "output_text", text, annotations: [] });
  const message = { ...item, status: isComplete ? "completed" : "incomplete", content: [part(words.join(""))] };
  const whole = {
    ...base,
    status: isComplete ? "completed" : "incomplete",
    incomplete_details: isComplete ? null : { reason: "max_output_tokens" },
    output: [message],
    usage: { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens },
  };

  function* events(): Generator<string> {
    let sequence_number = 0;
    const event = (type: string, fields: object) =>
      sseEvent({ type, sequence_number: sequence_number++, ...fields }, type);
    const begun = { ...base, status: "in_progress", incomplete_details: null, output: [], usage: null };
    const place = { item_id: item.id, output_index: 0, content_index: 0 };
    yield event("response.created", { response: begun });
    yield event("response.in_progress", { response: begun });
    const emptyItem = { ...item, status: "in_progress", content: [] };
    yield event("response.output_item.added", { output_index: 0, item: emptyItem });
    yield event("response.content_part.added", { ...place, part: part("") });
    for (const delta of words) yield event("response.output_text.delta", { ...place, delta, logprobs: [] });
    yield event("response.output_text.done", { ...place, text: words.join(""), logprobs: [] });
    yield event("response.content_part.done", { ...place, part: part(words.join("")) });
    yield event("response.output_item.done", { output_index: 0, item: message });
    yield event(isComplete ? "response.completed" : "response.incomplete", { response: whole });
  }

  return { whole, events };
}

/** Returns the strings in the input, which is a string or a list of messages. */
function textsOf(input: unknown): string[] {
  if (typeof input === "string") return [input];
  if (Array.isArray(input) && input.length > 0 && input.every(isRecord)) {
    return input.map(({ content }) => contentText(content));
  }
  throw new EchoRefusal("input", "must be a string or a list of messages");
}
