import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { isObject, type Properties } from "../engine/properties";

/*
 * Settings may hold the values of environment variables. In files on this machine and in internal
 * outputs, they are encrypted with the account's API key. Anyone with that key can read the
 * variables from the service anyway.
 */

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts properties with the account's API key. */
export function seal(apiKey: string, properties: Properties): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", keyOf(apiKey), iv);
  const sealed = Buffer.concat([cipher.update(JSON.stringify(properties)), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64");
}

/**
 * Returns the decrypted properties, or `undefined` if there are none or they were encrypted with
 * another key.
 */
export function unseal(apiKey: string, text: unknown): Properties | undefined {
  if (typeof text !== "string") return undefined;
  const bytes = Buffer.from(text, "base64");
  try {
    const decipher = createDecipheriv("aes-256-gcm", keyOf(apiKey), bytes.subarray(0, IV_BYTES));
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    const opened = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
    const properties: unknown = JSON.parse(opened.toString());
    return isObject(properties) ? properties : undefined;
  } catch {
    return undefined;
  }
}

function keyOf(apiKey: string): Buffer {
  return createHash("sha256").update(`rollout ${apiKey}`).digest();
}
