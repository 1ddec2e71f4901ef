import { readFileSync } from "node:fs";
import { systemReason } from "../emulator/io/systemReason";

/**
 * Returns the text of a file, as `decodeText` does.
 * @throws Error if the file cannot be read, with the reason
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
 * Returns text in UTF-8 or, with a byte order mark, in UTF-16, which is what ">" of Windows
 * PowerShell 5.1 writes. The mark is not part of the text.
 */
export function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  return new TextDecoder().decode(bytes);
}
