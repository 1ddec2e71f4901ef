import { STREAM_CHUNK_MAX_BYTES } from "../../sdk/contract/limits";
import { jsonCopy } from "../io/json";
import type { StreamItem } from "./jobStates";

/**
 * The stream item for a value that a handler yielded.
 * @param index the number of items that the job has streamed before
 */
export function itemOf(yielded: unknown, index: number): StreamItem {
  const item = isItem(yielded) ? yielded : { output: yielded, metrics: { stream_index: index } };
  return { output: jsonCopy(item.output), metrics: jsonCopy(item.metrics) as StreamItem["metrics"] };
}

/**
 * The item itself, or several when it is larger than a chunk may be (contract, Endpoints, rule 2). How it is split is
 * assumed: a string into strings, anything else as its JSON text.
 */
export function inChunks(item: StreamItem): StreamItem[] {
  const { output, metrics } = item;
  if (jsonBytes(item) <= STREAM_CHUNK_MAX_BYTES) return [item];
  const room = STREAM_CHUNK_MAX_BYTES - jsonBytes({ output: "", metrics });
  const text = typeof output === "string" ? output : JSON.stringify(output);
  return pieces(text, Math.max(MIN_PIECE_BYTES, room)).map((piece) => ({ output: piece, metrics }));
}

/** Two UTF-16 units, each as long as its JSON can be: `\u0000`. */
const MIN_PIECE_BYTES = 12;

function isItem(value: unknown): value is StreamItem {
  if (typeof value !== "object" || value === null || !("output" in value) || !("metrics" in value)) return false;
  return Object.keys(value).length === 2 && typeof value.metrics === "object" && value.metrics !== null;
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Cuts a text into pieces whose JSON is at most `maxBytes` long without its quotes; never through a character. */
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
