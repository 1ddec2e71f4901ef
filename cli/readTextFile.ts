import { readFileSync } from "node:fs";
import { systemReason } from "../emulator/io/systemReason";

/**
 * Reads a text file and decodes it with `decodeText`.
 * @throws Error with the reason if the file cannot be read
 */
export function readTextFile(file: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (cause) {
    throw new Error(`${file} cannot be read: ${systemReason(cause)}`, { cause });
  }
  return decodeText(bytes);
}

/**
 * Decodes UTF-8, or UTF-16 with a byte order mark, which ">" writes in Windows PowerShell 5.1.
 * Removes the mark.
 */
export function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  return new TextDecoder().decode(bytes);
}
