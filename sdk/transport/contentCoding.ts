import { pipeline, type Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { Chunks } from "./post";

/**
 * The encodings that a gateway may use even though the client never asks for any (RFC 9110,
 * Content-Encoding). undici's `decompress` could decode them, but it prints an ExperimentalWarning
 * to the user's terminal.
 */
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(),
  "x-gzip": () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
};

/**
 * The maximum number of encodings of one body. Hundreds of encodings would take seconds of CPU
 * time.
 */
const MOST_CODINGS = 5;

/** Thrown if an encoding of a body is unknown, or if a body has too many encodings. */
export class UnknownCoding extends Error {}

/** Returns the names in a `Content-Encoding` header, in the order in which they were applied. */
export function codingsOf(header: string | string[] | undefined): readonly string[] {
  if (header === undefined) return [];
  const names = String(header)
    .split(",")
    .map((name) => name.trim().toLowerCase());
  return names.filter((name) => name !== "" && name !== "identity");
}

/**
 * Returns the decoded body. Errors of the body or a decoder become errors of the result.
 * @throws UnknownCoding
 */
export function decoded(body: Readable, codings: readonly string[]): Readable {
  const unknown = codings.find((name) => !Object.hasOwn(DECODERS, name));
  if (unknown !== undefined) throw new UnknownCoding(`the encoding "${unknown}" is not known`);
  if (codings.length > MOST_CODINGS)
    throw new UnknownCoding(`it has ${codings.length} encodings, and ${MOST_CODINGS} at most are decoded`);
  return codings.reduceRight<Readable>((encoded, name) => {
    const decoder = (DECODERS[name] as () => Transform)();
    // The error can be ignored here, because the reader of the result also receives it.
    pipeline(encoded, decoder, () => {});
    return decoder;
  }, body);
}

/**
 * Returns the whole decoded body.
 * @throws TooLarge, UnknownCoding
 */
export async function decodedWhole(body: Readable, codings: readonly string[]): Promise<Buffer> {
  const chunks = new Chunks();
  for await (const chunk of decoded(body, codings)) chunks.add(chunk as Buffer);
  return chunks.whole();
}
