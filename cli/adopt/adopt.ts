import { acceptedWords } from "../../provider/connection/config";
import { createClient } from "../../sdk/client";
import { settingsFromEnvironment } from "../../sdk/config";
import type { ListedEndpoints } from "../../sdk/endpoints/listRecords";
import { ConfigurationError } from "../../sdk/errors";
import { type Command, EXIT_CODES, parseOptions } from "../command";
import { adoptionProgram } from "./adoptionProgram";

const help = `Usage: serverless-gpu adopt [options]

Writes a Pulumi program (TypeScript) that takes over the account's endpoints as they are, to standard output. It changes
nothing itself. The key and the addresses come from the environment: SERVERLESS_GPU_API_KEY, and
SERVERLESS_GPU_SERVICE=runpod or SERVERLESS_GPU_GRAPHQL_URL.

Options:
  --filter TEXT    only endpoints with TEXT in their name, in upper or lower case
  --help, -h       show this help

Examples:
  serverless-gpu adopt > index.ts
  serverless-gpu adopt --filter llama > llama.ts

${EXIT_CODES}
It is 1 also when an endpoint could not be taken into the program; standard error names it.`;

/** `adopt [--filter TEXT]`: the program on stdout, what could not be taken into it on stderr. */
export const adopt: Command = {
  name: "adopt",
  summary: "Write a Pulumi program that takes over the account's endpoints",
  help,
  run,
};

async function run(args: string[]): Promise<number> {
  const { filter = "" } = parseOptions(args, { filter: { type: "string" } }).values;
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
    throw new ConfigurationError(`${error.message}. ("adopt" reads the environment only, no stack's config)`);
  }
}
