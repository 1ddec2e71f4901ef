import { CodedError, ServerlessGpuError } from "../../sdk/errors/errors";
import { messageOf } from "../engine/errors";
import { log } from "../engine/log";
import { isProven } from "./account";
import type { Connection } from "./connection";
import type { ProviderClient } from "./providerClient";

/** The check of each client. A process serves one deployment and asks once. */
const checks = new WeakMap<ProviderClient, Promise<void>>();

/**
 * Checks before the first write that the key belongs to the account that the setting `account`
 * names. Without the setting, sends no request. If the service no longer shows accounts, a record
 * of state that was written or read with this key proves that it belongs to the account.
 * @throws WRONG_ACCOUNT if the key belongs to another account, or if the account cannot be read
 */
export function requireAccount(connection: Connection): Promise<void> {
  const { client, settings } = connection;
  if (settings.account === undefined) return Promise.resolve();
  const check = checks.get(client) ?? compare(connection, settings.account);
  checks.set(client, check);
  return check;
}

async function compare({ account: identity, client, capabilities }: Connection, account: string): Promise<void> {
  const found = await client.account.id().catch((error: unknown) => {
    // REST v2 does not show accounts, and GraphQL will be shut down.
    const isGone = error instanceof ServerlessGpuError && [404, 410].includes(error.status ?? 0);
    if (capabilities.api !== "v2" || !isGone)
      throw wrongAccount(account, `the key's account cannot be read: ${messageOf(error)}`);
    if (!isProven(identity))
      log(
        "serverless-gpu",
        `warning: it is unverified that this key belongs to account ${account}, because REST v2 does not show accounts, and ` +
          "no record of this stack has been seen with this key in this run",
      );
    return account;
  });
  if (found !== account) throw wrongAccount(account, `this key is of account ${found}`);
}

function wrongAccount(account: string, reason: string): CodedError {
  return new CodedError(
    "WRONG_ACCOUNT",
    `nothing was written, because the provider belongs to account ${account} (serverless-gpu:account, or ` +
      `SERVERLESS_GPU_ACCOUNT), and ${reason}. Use a key of that account, or correct the setting`,
  );
}
