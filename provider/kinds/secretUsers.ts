import { referenceTo } from "../../sdk/secrets/secret";
import type { ProviderClient } from "../connection/providerClient";
import { cancelled } from "../engine/cancellation";
import { messageOf } from "../engine/errors";
import { log } from "../engine/log";

const WAY =
  "Workers get a secret's value when they start. To replace them in the same run, add a variable that changes with the value " +
  "to their env, such as SECRET_VERSION with secret.version as text";

/**
 * Names the endpoints whose workers may still have the previous value of a secret. Never throws an
 * error, because the value has already been written.
 */
export async function sayWhoKeepsOldValue({ endpoints, templates }: ProviderClient, name: string): Promise<void> {
  const reference = referenceTo(name);
  const uses = ({ env }: { readonly env: Readonly<Record<string, string>> }) =>
    Object.values(env).some((value) => value.includes(reference));
  try {
    const options = { signal: cancelled };
    const [running, held] = await Promise.all([endpoints.listReadable(options), templates.listReadable(options)]);
    const templateIds = new Set(held.records.filter(uses).map(({ id }) => id));
    const users = running.records.filter((each) => uses(each) || templateIds.has(each.templateId));
    if (users.length === 0) return;
    const named = users.map((each) => `"${each.name}" (${each.id})`).join(", ");
    log(
      name,
      `its value has changed. These endpoints may still have workers with the previous value: ${named}. ${WAY}`,
    );
  } catch (error) {
    log(name, `its value has changed. Which endpoints use it could not be read: ${messageOf(error)}. ${WAY}`);
  }
}
