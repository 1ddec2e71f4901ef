import { parseArgs } from "node:util";
import { createClient } from "../sdk/client";
import { settingsFromEnvironment } from "../sdk/config";
import { adoptionProgram } from "./adoptionProgram";

const usage = `Usage: serverless-gpu adopt [options]

Writes a Pulumi program (TypeScript) that takes over the account's endpoints as they are. It changes nothing itself.
The key and the addresses come from the environment: SERVERLESS_GPU_API_KEY, and SERVERLESS_GPU_SERVICE=runpod or
SERVERLESS_GPU_GRAPHQL_URL. The exit code is 1 when an endpoint could not be taken into the program.

Options:
  --filter TEXT       only endpoints with TEXT in their name, in upper or lower case
  --help

Examples:
  serverless-gpu adopt > index.ts
  serverless-gpu adopt --filter llama > llama.ts`;

/** `adopt [--filter TEXT]`: the program on stdout, what could not be taken into it on stderr. */
export async function runAdopt(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: { filter: { type: "string" }, help: { type: "boolean", short: "h" } },
  });
  if (values.help) {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  const { filter = "" } = values;
  const client = createClient(settingsFromEnvironment());
  const all = await client.endpoints.list().finally(() => client.close());
  const endpoints = all.filter(({ name }) => name.toLowerCase().includes(filter.toLowerCase()));
  if (endpoints.length === 0) {
    const which = all.length === 0 ? "no endpoints" : `${all.length} endpoints, none with "${filter}" in its name`;
    throw new Error(`there is nothing to adopt: the account has ${which}`);
  }
  const { source, skipped } = adoptionProgram(endpoints);
  process.stdout.write(source);
  for (const { id, reason } of skipped) process.stderr.write(`serverless-gpu adopt: left out ${id}: ${reason}\n`);
  return skipped.length === 0 ? 0 : 1;
}
