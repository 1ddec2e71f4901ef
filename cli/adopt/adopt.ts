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
import { type ManagedRecords, managedRecords } from "./managedRecords";
import { recordProgram } from "./recordProgram";

export interface AdoptFlags extends Partial<AdoptStateOptions> {
  /** `true` to include templates and network volumes. */
  readonly all?: boolean;
  /** Path of the file to create. It must not exist yet. */
  readonly out?: string;
}

interface Records {
  readonly endpoints: readonly Endpoint[];
  readonly templates: readonly Template[];
  readonly volumes: readonly Volume[];
}

/** An account's records. Endpoints that cannot be read are listed, too. */
interface Account extends Omit<Records, "endpoints"> {
  readonly endpoints: Listed<Endpoint>;
}

/** The records to adopt, and how many the project's stacks manage already. */
interface Wanted extends Records {
  readonly managedCount: number;
}

/**
 * Prints the program to stdout, and the records that it leaves out to stderr. Returns the exit
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
  const listed = await listAccount(connection, isAll);
  for (const { id = "a record without an id", name = "", problem } of listed.endpoints.unreadable)
    leaveOut(`${id} ${JSON.stringify(name)}`, `it cannot be read: ${problem}`);
  const account = { ...listed, endpoints: listed.endpoints.records };
  const wanted = unmanaged(namedLike(filter, account), await readManaged());
  const others = recordProgram(wanted.templates, wanted.volumes);
  const words = acceptedWords(found.readConfig);
  const { source, skipped } = adoptionProgram(wanted.endpoints, words, connection.api, others);
  for (const { id, reason } of [...skipped, ...others.skipped]) leaveOut(id, reason);
  if (source === "") throw nothingToAdopt(account.endpoints.length, filter, wanted);
  write(source, out);
  return skipped.length === 0 && listed.endpoints.unreadable.length === 0 ? 0 : 1;
}

function leaveOut(record: string, reason: string): void {
  say(`serverless-gpu adopt: left out ${record}: ${reason}`);
}

function namedLike(text: string, { endpoints, templates, volumes }: Records): Records {
  const contains = ({ name }: { readonly name: string }) => name.toLowerCase().includes(text.toLowerCase());
  return {
    endpoints: endpoints.filter(contains),
    templates: templates.filter(contains),
    volumes: volumes.filter(contains),
  };
}

async function readManaged(): Promise<ManagedRecords> {
  const managed = await managedRecords();
  if ("value" in managed) return managed.value;
  tell(
    `the states of this project's stacks cannot be read (${managed.problem}), so the program may contain records that ` +
      "one of them manages already. Remove those from the program: two stacks must not manage one record",
  );
  return new Map();
}

/** Returns the records that no stack of this project manages, and names the others. */
function unmanaged({ endpoints, templates, volumes }: Records, managed: ManagedRecords): Wanted {
  let count = 0;
  const isFree = ({ id, name }: { readonly id: string; readonly name: string }) => {
    const stack = managed.get(id);
    if (stack === undefined) return true;
    count++;
    leaveOut(`${id} ${JSON.stringify(name)}`, `this project's stack ${stack} manages it`);
    return false;
  };
  const free = {
    endpoints: endpoints.filter(isFree),
    templates: templates.filter(isFree),
    volumes: volumes.filter(isFree),
  };
  return { ...free, managedCount: count };
}

function nothingToAdopt(all: number, filter: string, { endpoints, managedCount }: Wanted): Error {
  const reason =
    managedCount > 0
      ? "this project's stacks manage the records already"
      : all === 0
        ? "the account has no endpoints"
        : endpoints.length === 0
          ? `the account has ${all} endpoints, none with "${filter}" in its name`
          : "every endpoint was left out";
  return new Error(`there is nothing to adopt: ${reason}`);
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
