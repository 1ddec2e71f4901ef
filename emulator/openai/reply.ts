import { isRecord } from "./openAiJob";

/** The id of the model. */
export const MODEL = "emulated-model";

/** What a reply contains in addition to the request's data. */
export interface ReplyContext {
  /** The id of the job, for the ids in the reply. */
  readonly jobId: string;
  /** The time of the reply, in seconds since the epoch. */
  readonly created: number;
}

/** A reply as a whole, and as server-sent events if the route can stream. */
export interface Reply {
  readonly whole: unknown;
  readonly events?: () => Iterable<string>;
}

/** A request that is not valid. */
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
  /** Its words, each with the space before it. */
  readonly words: readonly string[];
  readonly finish: "stop" | "length";
}

/** Repeats a string, up to `maxTokens` words. */
export function repeat(text: string, maxTokens: unknown): Said {
  const words = text.match(/\s*\S+/g) ?? [];
  if (typeof maxTokens !== "number" || words.length <= maxTokens) return { words, finish: "stop" };
  return { words: words.slice(0, maxTokens), finish: "length" };
}

/**
 * Returns the text of a message's content: a string, or a list of parts, of which some have a
 * string.
 */
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

/** Returns `true` if the usage belongs into the last event of a stream. */
export function wantsUsage({ stream_options: options }: Readonly<Record<string, unknown>>): boolean {
  return isRecord(options) && options.include_usage === true;
}

export function usageOf(prompt_tokens: number, completion_tokens: number) {
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
