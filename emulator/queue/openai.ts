import { type HttpResponse, json, stream } from "../io/http";
import type { EmulatorClock } from "../time/virtualClock";

const MODEL = "emulated-model";

/**
 * Responds to `/openai/*` as an OpenAI-compatible server whose model repeats the last message. All of it is assumed,
 * because the contract does not describe it.
 */
export function openaiEcho(route: string, payload: unknown, clock: EmulatorClock): HttpResponse {
  if (route === "v1/models") {
    return json(200, { object: "list", data: [{ id: MODEL, object: "model", owned_by: "emulator" }] }, "queue.openai");
  }
  const body = (payload ?? {}) as {
    model?: unknown;
    messages?: { content?: unknown }[];
    prompt?: unknown;
    stream?: unknown;
  };
  const content = String((Array.isArray(body.messages) ? body.messages.at(-1)?.content : body.prompt) ?? "");
  const isChat = route === "v1/chat/completions";
  const base = { id: "chatcmpl-emulated", created: Math.floor(clock.now() / 1000), model: body.model ?? MODEL };
  if (body.stream === true) return stream(200, "text/event-stream", events(base, content, isChat), "queue.openai");
  const choice = isChat ? { message: { role: "assistant", content } } : { text: content };
  const tokens = content.split(/\s+/).filter(Boolean).length;
  return json(
    200,
    {
      ...base,
      object: isChat ? "chat.completion" : "text_completion",
      choices: [{ index: 0, ...choice, finish_reason: "stop" }],
      usage: { prompt_tokens: tokens, completion_tokens: tokens, total_tokens: 2 * tokens },
    },
    "queue.openai",
  );
}

async function* events(base: object, content: string, isChat: boolean): AsyncGenerator<string> {
  const object = isChat ? "chat.completion.chunk" : "text_completion";
  for (const word of content.match(/\s*\S+/g) ?? []) {
    const piece = isChat ? { delta: { content: word } } : { text: word };
    yield event({ ...base, object, choices: [{ index: 0, ...piece, finish_reason: null }] });
  }
  const last = isChat ? { delta: {} } : { text: "" };
  yield event({ ...base, object, choices: [{ index: 0, ...last, finish_reason: "stop" }] });
  yield "data: [DONE]\n\n";
}

function event(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
