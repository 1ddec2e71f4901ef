import { ConfigurationError } from "./errors";

/**
 * Checks the runtime. Bun replaces undici by a module of its own that sends nothing.
 * @throws ConfigurationError under Bun
 */
export function requireNode(versions: NodeJS.Dict<string> = process.versions): void {
  if (versions.bun === undefined) return;
  throw new ConfigurationError(
    `this client does not work on Bun ${versions.bun}, which replaces the HTTP library undici: run the program with Node.js or Deno`,
  );
}
