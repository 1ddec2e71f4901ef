import { pipeline, type Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { Chunks } from "./exchange";

/** What a gateway may do to a body, though the client never asks for it (RFC 9110, Content-Encoding). */
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(),
  "x-gzip": () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
};

/** Thrown when a body is encoded in a way that is not known. */
export class UnknownCoding extends Error {}

/** The names in a `Content-Encoding` header, in the order in which they were applied. */
export function codingsOf(header: string | string[] | undefined): readonly string[] {
  if (header === undefined) return [];
  const names = String(header)
    .split(",")
    .map((name) => name.trim().toLowerCase());
  return names.filter((name) => name !== "" && name !== "identity");
}

/**
 * The body as it was before it was encoded. An error of the body or of its encoding is the error of the result.
 * @throws UnknownCoding
 */
export function decoded(body: Readable, codings: readonly string[]): Readable {
  const unknown = codings.find((name) => !Object.hasOwn(DECODERS, name));
  if (unknown !== undefined) throw new UnknownCoding(`the encoding "${unknown}" is not known`);
  return codings.reduceRight<Readable>((encoded, name) => {
    const decoder = (DECODERS[name] as () => Transform)();
    // Whoever reads the result is told of an error.
    pipeline(encoded, decoder, () => {});
    return decoder;
  }, body);
}

/**
 * All of a body as it was before it was encoded.
 * @throws TooLarge, UnknownCoding
 */
export async function decodedWhole(body: Readable, codings: readonly string[]): Promise<Buffer> {
  const chunks = new Chunks();
  for await (const chunk of decoded(body, codings)) chunks.add(chunk as Buffer);
  return chunks.whole();
}
