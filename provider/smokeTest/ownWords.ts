import { ServerlessGpuError } from "../../sdk/errors/errors";

const AGAIN = "The next pulumi up runs the test again";

/**
 * Phrases of the client's messages about its own functions, and the provider's own phrases for
 * them.
 */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/; retry\(\) runs it again/, `. ${AGAIN}`],
  [/Continue with client\.endpoint\("[^"]*"\)\.job\("[^"]*"\)/, AGAIN],
  [/Call its workers with client\.endpoint\(id\)\.fetch\("[^"]*"\)/, "Set path instead of input"],
  [/, or submit with idempotent: true if it is safe for the job to run twice/, `. ${AGAIN}`],
];

/**
 * Returns the error of a job with a message that does not speak of the client's functions, which a
 * program that declares resources does not call.
 */
export function inOwnWords(error: unknown): unknown {
  if (!(error instanceof ServerlessGpuError)) return error;
  error.message = WORDS.reduce((text, [pattern, own]) => text.replace(pattern, own), error.message);
  return error;
}
