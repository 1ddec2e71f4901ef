import { existsSync, writeFileSync } from "node:fs";
import { systemReason } from "../../emulator/io/systemReason";
import { acceptedWords } from "../../provider/connection/config";
import { createClient } from "../../sdk/client/client";
import { API_NAMES } from "../../sdk/connection/resolver";
import { type EnvironmentSettings, managementApi } from "../../sdk/connection/settings";
import type { Endpoint } from "../../sdk/endpoints/record";
import type { Listed } from "../../sdk/records/listed";
import type { Template } from "../../sdk/templates/template";
import type { Volume } from "../../sdk/volumes/volume";
import { announced, findConnection } from "../connection/connection";
import { withLiveApi } from "../connection/liveApi";
import { say } from "../terminal";
import { adoptionProgram } from "./adoptionProgram";
import { type AdoptStateOptions, adoptState } from "./adoptState";
import { recordProgram } from "./recordProgram";

export interface AdoptFlags extends Partial<AdoptStateOptions> {
  /** `true` to include templates and network volumes. */
  readonly all?: boolean;
  /** Path of the file to create. It must not exist yet. */
  readonly out?: string;
}

interface Account {
  readonly endpoints: Listed<Endpoint>;
  readonly templates: readonly Template[];
  readonly volumes: readonly Volume[];
}

/**
 * Prints the program to stdout, and the endpoints that it leaves out to stderr. Returns the exit
 * code.
 */
export async function adopt({ filter = "", all: isAll = false, from, out, ...flags }: AdoptFlags): Promise<number> {
  if (out !== undefined && existsSync(out))
    throw new Error(`${out} already exists and will not be overwritten. Give --out the name of a new file`);
  const found = await withLiveApi(await findConnection(process.cwd(), flags));
  if (from !== undefined) {
    const api = managementApi(found.settings);
    say(`the program is for ${API_NAMES[api]} (${found.from.api ?? "the default"})`);
    const { output, messages, exitCode } = adoptState({ ...flags, filter, from, api });
    write(output, out);
    for (const message of messages) say(`serverless-gpu adopt: ${message}`);
    return exitCode;
  }
  const connection = announced(found);
  const { endpoints: listed, templates, volumes } = await listAccount(connection, isAll);
  const { records: all, unreadable } = listed;
  const endpoints = all.filter(({ name }) => name.toLowerCase().includes(filter.toLowerCase()));
  for (const { id = "a record without an id", name = "", problem } of unreadable) {
    say(`serverless-gpu adopt: left out ${id} ${JSON.stringify(name)}: it cannot be read: ${problem}`);
  }
  const contains = ({ name }: { readonly name: string }) => name.toLowerCase().includes(filter.toLowerCase());
  const others = recordProgram(templates.filter(contains), volumes.filter(contains));
  if (endpoints.length === 0 && others.source === "") {
    const which = all.length === 0 ? "no endpoints" : `${all.length} endpoints, none with "${filter}" in its name`;
    throw new Error(`there is nothing to adopt: the account has ${which}`);
  }
  const { source, skipped } = adoptionProgram(endpoints, acceptedWords(found.readConfig), connection.api);
  write(source + others.source, out);
  for (const { id, reason } of [...skipped, ...others.skipped]) say(`serverless-gpu adopt: left out ${id}: ${reason}`);
  return skipped.length === 0 && unreadable.length === 0 ? 0 : 1;
}

/** Writes to stdout, or creates the file if one is given. */
function write(text: string, file: string | undefined): void {
  if (file === undefined) return void process.stdout.write(text);
  try {
    writeFileSync(file, text, { flag: "wx" });
  } catch (cause) {
    throw new Error(`${file} cannot be written: ${systemReason(cause)}`, { cause });
  }
  say(`serverless-gpu adopt: wrote ${file}`);
}

function tell(message: string): void {
  say(`serverless-gpu adopt: warning: ${message}`);
}

async function listAccount(connection: EnvironmentSettings, isAll: boolean): Promise<Account> {
  await using client = createClient({ ...connection, onWarning: ({ message }) => tell(message) });
  const endpoints = await client.endpoints.listReadable();
  return {
    endpoints,
    templates: isAll ? await client.templates.list() : [],
    volumes: isAll ? await client.volumes.list() : [],
  };
}
