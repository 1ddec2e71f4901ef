/** Returns the message of any thrown value, even of an object without a prototype. */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return "a value without a text was thrown";
  }
}
