import { STREAM_CHUNK_MAX_BYTES } from "../../sdk/contract/limits";
import { jsonCopy } from "../io/json";
import type { StreamItem } from "./jobStates";

/**
 * Returns the stream item for a value that a handler yielded.
 * @param index how many items the job has streamed before
 */
export function itemOf(yielded: unknown, index: number): StreamItem {
  const item = isItem(yielded) ? yielded : { output: yielded, metrics: { stream_index: index } };
  return { output: jsonCopy(item.output), metrics: jsonCopy(item.metrics) as StreamItem["metrics"] };
}

/**
 * Splits an item that exceeds the size of a chunk (contract, Endpoints, rule 2). The format is
 * assumed: a string is split into strings, and any other value into pieces of its JSON.
 */
export function inChunks(item: StreamItem): StreamItem[] {
  const { output, metrics } = item;
  if (jsonBytes(item) <= STREAM_CHUNK_MAX_BYTES) return [item];
  const room = STREAM_CHUNK_MAX_BYTES - jsonBytes({ output: "", metrics });
  const text = typeof output === "string" ? output : JSON.stringify(output);
  return pieces(text, Math.max(MIN_PIECE_BYTES, room)).map((piece) => ({ output: piece, metrics }));
}

/** The longest JSON of two UTF-16 units, such as `\u0000\u0000`. */
const MIN_PIECE_BYTES = 12;

function isItem(value: unknown): value is StreamItem {
  if (typeof value !== "object" || value === null || !("output" in value) || !("metrics" in value)) return false;
  return Object.keys(value).length === 2 && typeof value.metrics === "object" && value.metrics !== null;
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/**
 * Splits a string between characters. The JSON of each piece, without quotes, has at most
 * `maxBytes` bytes.
 */
function pieces(text: string, maxBytes: number): string[] {
  const found: string[] = [];
  for (let start = 0; start < text.length; ) {
    let length = maxBytes;
    while (jsonBytes(text.slice(start, start + length)) - 2 > maxBytes) length = Math.floor(length * 0.8);
    const next = text.codePointAt(start + length - 1) ?? 0;
    if (next > 0xffff) length -= 1;
    found.push(text.slice(start, start + length));
    start += length;
  }
  return found;
}
