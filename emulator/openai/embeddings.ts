import { createHash } from "node:crypto";
import { countTokens, EchoRefusal, modelOf, type Reply } from "./reply";

const DEFAULT_DIMENSIONS = 8;
const MOST_DIMENSIONS = 4096;

/**
 * Replies to `/v1/embeddings`. The embedding is a unit vector, and the same string always gets the
 * same one.
 */
export function embeddings(body: Readonly<Record<string, unknown>>): Reply {
  const texts = textsOf(body.input);
  const dimensions = dimensionsOf(body.dimensions);
  const encode = body.encoding_format === "base64" ? base64 : (vector: Float32Array) => [...vector];
  const data = texts.map((text, index) => ({
    object: "embedding",
    index,
    embedding: encode(vectorOf(text, dimensions)),
  }));
  const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
  return {
    whole: { object: "list", data, model: modelOf(body), usage: { prompt_tokens: tokens, total_tokens: tokens } },
  };
}

function textsOf(input: unknown): string[] {
  const texts = typeof input === "string" ? [input] : input;
  if (Array.isArray(texts) && texts.length > 0) {
    if (texts.every(Number.isInteger)) return [texts.join(" ")];
    if (texts.every((text) => typeof text === "string")) return texts;
  }
  throw new EchoRefusal("input", "must be a string or a list of strings");
}

function dimensionsOf(dimensions: unknown = DEFAULT_DIMENSIONS): number {
  if (Number.isInteger(dimensions) && (dimensions as number) >= 1 && (dimensions as number) <= MOST_DIMENSIONS) {
    return dimensions as number;
  }
  throw new EchoRefusal("dimensions", `must be a whole number from 1 to ${MOST_DIMENSIONS}`);
}

function vectorOf(text: string, dimensions: number): Float32Array {
  const bytes = createHash("shake256", { outputLength: 2 * dimensions })
    .update(text)
    .digest();
  const vector = Float32Array.from({ length: dimensions }, (_, at) => bytes.readUInt16LE(2 * at) - 32_767.5);
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

function base64(vector: Float32Array): string {
  return Buffer.from(vector.buffer).toString("base64");
}
