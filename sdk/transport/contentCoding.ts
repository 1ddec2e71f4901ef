import { pipeline, type Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { Chunks } from "./exchange";

/** The encodings that a gateway may use, although the client never asks for one (RFC 9110, Content-Encoding). */
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(),
  "x-gzip": () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
};

/** Thrown when the encoding of a body is unknown. */
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
 * Returns the decoded body. An error of the body or of a decoder is an error of the result.
 * @throws UnknownCoding
 */
export function decoded(body: Readable, codings: readonly string[]): Readable {
  const unknown = codings.find((name) => !Object.hasOwn(DECODERS, name));
  if (unknown !== undefined) throw new UnknownCoding(`the encoding "${unknown}" is not known`);
  return codings.reduceRight<Readable>((encoded, name) => {
    const decoder = (DECODERS[name] as () => Transform)();
    // The reader of the result gets the error.
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
