import { isRecord } from "./openAiJob";

/** The model's id. */
export const MODEL = "emulated-model";

/** Data for a reply that is not in the request. */
export interface ReplyContext {
  /** The job's id, which the ids in the reply are based on. */
  readonly jobId: string;
  /** The time of the reply, in seconds since the epoch. */
  readonly created: number;
}

/** A reply in one piece, and as server-sent events if the route supports streaming. */
export interface Reply {
  readonly whole: unknown;
  readonly events?: () => Iterable<string>;
}

/** An invalid request. */
export class EchoRefusal extends Error {
  constructor(
    readonly param: string,
    problem: string,
  ) {
    super(`${param}: ${problem}`);
  }
}

/** The model's reply. */
export interface Said {
  /** The words of the reply, each with the preceding space. */
  readonly words: readonly string[];
  readonly finish: "stop" | "length";
}

/** Repeats a string, up to `maxTokens` words. */
export function repeat(text: string, maxTokens: unknown): Said {
  const words = text.match(/\s*\S+/g) ?? [];
  if (typeof maxTokens !== "number" || words.length <= maxTokens) return { words, finish: "stop" };
  return { words: words.slice(0, maxTokens), finish: "length" };
}

/** Returns the text of a message's content, which is a string or a list of parts. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (isRecord(part) && typeof part.text === "string" ? part.text : "")).join("");
}

export function countTokens(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

/** Returns the number of choices for each prompt. */
export function choiceCount(n: unknown): number {
  if (n === undefined || n === null) return 1;
  if (Number.isInteger(n) && (n as number) >= 1 && (n as number) <= 128) return n as number;
  throw new EchoRefusal("n", "must be a whole number from 1 to 128");
}

export function modelOf({ model }: Readonly<Record<string, unknown>>): unknown {
  return model ?? MODEL;
}

/** Returns `true` if the last event of a stream must contain the usage. */
export function wantsUsage({ stream_options: options }: Readonly<Record<string, unknown>>): boolean {
  return isRecord(options) && options.include_usage === true;
}

export function usageOf(prompt_tokens: number, completion_tokens: number) {
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
