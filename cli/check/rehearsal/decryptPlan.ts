import { createDecipheriv, pbkdf2Sync } from "node:crypto";
import { isObject } from "../../../provider/engine/properties";
import type { Plan } from "./assumeSecrets";
import { isSecret } from "./rewriteState";

/**
 * Returns a saved plan with its secrets in plain text. The engine could write the plan without
 * encryption, but then a file would contain the secrets.
 * @param salt the `encryptionsalt` of the stack
 */
export function decryptedPlan(plan: string, salt: string, passphrase: string): Plan {
  // Pulumi's format: AES-256-GCM with a key from the passphrase, as v1:<nonce>:<text and tag>.
  const [, ofKey = ""] = salt.split(":");
  const key = pbkdf2Sync(passphrase, Buffer.from(ofKey, "base64"), 1_000_000, 32, "sha256");
  const decrypt = (encrypted: string): string => {
    const [, nonce = "", text = ""] = encrypted.split(":");
    const bytes = Buffer.from(text, "base64");
    const decipher = createDecipheriv("aes-256-gcm", key, Buffer.from(nonce, "base64"));
    decipher.setAuthTag(bytes.subarray(-16));
    return decipher.update(bytes.subarray(0, -16), undefined, "utf8") + decipher.final("utf8");
  };
  const opened = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(opened);
    if (!isObject(value)) return value;
    const { ciphertext, ...rest } = value;
    if (isSecret(value) && typeof ciphertext === "string") return { ...rest, plaintext: decrypt(ciphertext) };
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, opened(each)]));
  };
  return opened(JSON.parse(plan)) as Plan;
}
