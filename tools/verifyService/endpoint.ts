import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "../../sdk/client/client";
import { LIST_LAG_MS } from "../../sdk/contract/limits";
import { CreateUncertainError } from "../../sdk/errors/errors";
import { redact } from "../../sdk/errors/secretText";
import { failureOf } from "./play";
import { type OwnEndpoint, type SentRequest, secondName } from "./testedService";
import type { Removal } from "./transcript";

/** How long workers may take to stop, in milliseconds. */
const DRAIN_TIMEOUT_MS = 300_000;

/**
 * Creates an endpoint that cannot start a worker. An interrupt does not abort the create, so its
 * outcome is known.
 * @throws Error that names what may be left, if the outcome is unknown and the endpoint cannot be
 * found and deleted by its name
 */
export async function createOwnEndpoint(client: Client, wanted: Omit<OwnEndpoint, "id">): Promise<OwnEndpoint> {
  try {
    const { id } = await client.endpoints.create({ ...wanted, workersMin: 0, workersMax: 0 });
    return { ...wanted, id };
  } catch (error) {
    if (!(error instanceof CreateUncertainError)) throw error;
    throw new Error(`${failureOf(error)}. ${await removeByName(client, wanted.name)}`, { cause: error });
  }
}

/** Deletes the endpoint by the run's random name. Returns a sentence about the outcome. */
async function removeByName(client: Client, name: string): Promise<string> {
  try {
    // The list may not show the endpoint yet.
    await sleep(2 * LIST_LAG_MS);
    const found = (await client.endpoints.list()).filter((each) => each.name === name);
    for (const { id } of found) await client.endpoints.delete(id, { drainTimeoutMs: DRAIN_TIMEOUT_MS });
    if (found.length > 0) return `The endpoint ${name} was found and deleted`;
    return `No endpoint is named ${name}. Look again in a few minutes: ${howToDelete(name)}`;
  } catch (error) {
    return `The endpoint ${name} may exist (${redact(failureOf(error))}): ${howToDelete(name)}`;
  }
}

/** Deletes the endpoint and verifies that it is gone, even after an interrupt. Never throws. */
export async function removeOwnEndpoint(
  client: Client,
  { id, name }: OwnEndpoint,
  requests: readonly SentRequest[],
): Promise<Removal> {
  try {
    await removeSecond(client, secondName({ name }), requests);
    await client.endpoints.delete(id, { drainTimeoutMs: DRAIN_TIMEOUT_MS });
    return { name, deleted: true };
  } catch (error) {
    // A failed deletion would restore the worker counts, which is not wanted here.
    await client.endpoints.scaleToZero(id).catch(() => {});
    return { name, deleted: false, id, problem: redact(failureOf(error)) };
  }
}

/**
 * Deletes the endpoint that the run created over REST v2. Only looks for it if a create was sent
 * and no deletion was confirmed.
 */
async function removeSecond(client: Client, name: string, requests: readonly SentRequest[]): Promise<void> {
  const wasSent = requests.some(({ request }) => request === "POST /v2/serverless");
  const isGone = requests.some(({ request, status }) => status === 204 && request.startsWith("DELETE /v2/serverless/"));
  if (!wasSent || isGone) return;
  await sleep(2 * LIST_LAG_MS);
  const left = (await client.endpoints.list()).filter((each) => each.name === name);
  for (const { id } of left) await client.endpoints.delete(id, { drainTimeoutMs: DRAIN_TIMEOUT_MS });
}

/** Describes how to delete a remaining endpoint by its id or name. */
export function howToDelete(idOrName: string): string {
  return (
    `delete the endpoint ${idOrName} in the service's console, or by its id with ` +
    "createClient().endpoints.delete(id) of pulumi-serverless-gpu/sdk"
  );
}
