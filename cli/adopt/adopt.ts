import { acceptedWords } from "../../provider/connection/config";
import { createClient } from "../../sdk/client";
import { settingsFromEnvironment } from "../../sdk/config";
import type { ListedEndpoints } from "../../sdk/endpoints/listRecords";
import { ConfigurationError } from "../../sdk/errors";
import { adoptionProgram } from "./adoptionProgram";

/**
 * Writes the program to standard output and the endpoints that it leaves out to standard error. Returns the exit code.
 */
export async function adopt({ filter = "" }: { readonly filter?: string }): Promise<number> {
  const { endpoints: all, unreadable } = await listEndpoints();
  const endpoints = all.filter(({ name }) => name.toLowerCase().includes(filter.toLowerCase()));
  for (const { id = "a record without an id", name = "", problem } of unreadable) {
    process.stderr.write(
      `serverless-gpu adopt: left out ${id} ${JSON.stringify(name)}: it cannot be read: ${problem}\n`,
    );
  }
  if (endpoints.length === 0) {
    const which = all.length === 0 ? "no endpoints" : `${all.length} endpoints, none with "${filter}" in its name`;
    throw new Error(`there is nothing to adopt: the account has ${which}`);
  }
  const { source, skipped } = adoptionProgram(
    endpoints,
    acceptedWords(() => undefined),
  );
  process.stdout.write(source);
  for (const { id, reason } of skipped) process.stderr.write(`serverless-gpu adopt: left out ${id}: ${reason}\n`);
  return skipped.length === 0 && unreadable.length === 0 ? 0 : 1;
}

async function listEndpoints(): Promise<ListedEndpoints> {
  try {
    const client = createClient(settingsFromEnvironment());
    return await client.endpoints.listReadable().finally(() => client.close());
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new ConfigurationError(`${error.message}. ("adopt" reads only the environment, not the config of a stack)`);
  }
}
