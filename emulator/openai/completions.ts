import { SSE_DONE, sseEvent } from "./openAiJob";
import {
  choiceCount,
  countTokens,
  EchoRefusal,
  modelOf,
  type Reply,
  type ReplyContext,
  repeat,
  usageOf,
  wantsUsage,
} from "./reply";

/** Replies to `/v1/completions`. */
export function completions(body: Readonly<Record<string, unknown>>, { jobId, created }: ReplyContext): Reply {
  const prompts = promptsOf(body.prompt);
  const perPrompt = choiceCount(body.n);
  const all = prompts.flatMap((prompt) => Array.from({ length: perPrompt }, () => repeat(prompt, body.max_tokens)));
  const base = { id: `cmpl-${jobId}`, object: "text_completion", created, model: modelOf(body) };
  const usage = usageOf(
    prompts.reduce((sum, prompt) => sum + countTokens(prompt), 0),
    all.reduce((sum, { words }) => sum + words.length, 0),
  );

  function* events(): Generator<string> {
    const more = wantsUsage(body) ? { usage: null } : {};
    const piece = (index: number, text: string, finish_reason: string | null = null) =>
      sseEvent({ ...base, choices: [{ index, text, logprobs: null, finish_reason }], ...more });
    for (const [index, { words, finish }] of all.entries()) {
      for (const word of words) yield piece(index, word);
      yield piece(index, "", finish);
    }
    if (wantsUsage(body)) yield sseEvent({ ...base, choices: [], usage });
    yield SSE_DONE;
  }

  const choices = all.map(({ words, finish }, index) => ({
    index,
    text: words.join(""),
    logprobs: null,
    finish_reason: finish,
  }));
  return { whole: { ...base, choices, usage }, events };
}

/**
 * Returns the prompts. The input may be a string, a list of strings, a list of tokens, or a list of
 * token lists.
 */
function promptsOf(prompt: unknown): string[] {
  const isTokens = (value: unknown): value is number[] => Array.isArray(value) && value.every(Number.isInteger);
  if (typeof prompt === "string") return [prompt];
  if (Array.isArray(prompt) && prompt.length > 0) {
    if (isTokens(prompt)) return [prompt.join(" ")];
    if (prompt.every((one) => typeof one === "string" || isTokens(one))) {
      return prompt.map((one) => (typeof one === "string" ? one : one.join(" ")));
    }
  }
  throw new EchoRefusal("prompt", "must be a string or a list of strings");
}
