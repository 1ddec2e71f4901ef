import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "../../sdk/client";
import { LIST_LAG_MS } from "../../sdk/contract/limits";
import { CreateUncertainError } from "../../sdk/errors";
import { redact } from "../../sdk/secret";
import { messageOf } from "./play";
import type { OwnEndpoint } from "./site";
import type { Removal } from "./transcript";

/** The time for workers to stop, in milliseconds. */
const DRAIN_TIMEOUT_MS = 300_000;

/**
 * Creates the endpoint, which can have no worker. An interruption does not cut the creation off, so that its result is
 * known.
 * @throws Error that says what may be left, if the result is unknown and the endpoint cannot be deleted by its name
 */
export async function createOwnEndpoint(client: Client, wanted: Omit<OwnEndpoint, "id">): Promise<OwnEndpoint> {
  try {
    const { id } = await client.endpoints.create({ ...wanted, workersMin: 0, workersMax: 0 });
    return { ...wanted, id };
  } catch (error) {
    if (!(error instanceof CreateUncertainError)) throw error;
    throw new Error(`${messageOf(error)}. ${await removeByName(client, wanted.name)}`, { cause: error });
  }
}

/** Deletes what has the name of the run, which is random, and returns a sentence about it. */
async function removeByName(client: Client, name: string): Promise<string> {
  try {
    // A list may not show the endpoint yet.
    await sleep(2 * LIST_LAG_MS);
    const found = (await client.endpoints.list()).filter((each) => each.name === name);
    for (const { id } of found) await client.endpoints.delete(id, { drainTimeoutMs: DRAIN_TIMEOUT_MS });
    if (found.length > 0) return `The endpoint ${name} was found and deleted`;
    return `No endpoint is named ${name}. Look again in a few minutes: ${howToDelete(name)}`;
  } catch (error) {
    return `The endpoint ${name} may exist (${redact(messageOf(error))}): ${howToDelete(name)}`;
  }
}

/** Deletes the endpoint and proves that it is gone. An interruption does not stop it. Never throws. */
export async function removeOwnEndpoint(client: Client, { id, name }: OwnEndpoint): Promise<Removal> {
  try {
    await client.endpoints.delete(id, { drainTimeoutMs: DRAIN_TIMEOUT_MS });
    return { name, deleted: true };
  } catch (error) {
    // A failed deletion puts the workers back, which nobody wants here.
    await client.endpoints.scaleToZero(id).catch(() => {});
    return { name, deleted: false, id, problem: redact(messageOf(error)) };
  }
}

/** Returns the way to delete an endpoint that is left, by its id or its name. */
export function howToDelete(idOrName: string): string {
  return (
    `delete the endpoint ${idOrName} in the service's console, or by its id with ` +
    "createClient().endpoints.delete(id) of pulumi-serverless-gpu/sdk"
  );
}
