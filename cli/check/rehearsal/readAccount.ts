import { isObject } from "../../../provider/engine/properties";
import { createManagement } from "../../../sdk/client/managementClient";
import { findConnection, requireSecrets } from "../../connection/connection";
import { withLiveApi } from "../../connection/liveApi";
import { PLACEHOLDER } from "./rewriteState";
import { noRecords, type Records } from "./seed";

/** The data of the real account that a rehearsal reads. */
export interface Account {
  readonly records: Records;
  /** `undefined` if the service does not show it. */
  readonly workerQuota: number | undefined;
}

/**
 * Reads all records of the account and its worker quota. Variables become placeholders, because
 * they may be secret and the rehearsal does not need them.
 * @throws ConfigurationError if there is no key
 */
export async function readAccount(stack: string): Promise<Account> {
  const found = await withLiveApi(await findConnection(process.cwd(), { stack }));
  requireSecrets(found);
  await using client = createManagement(found.settings as Parameters<typeof createManagement>[0]);
  const records = noRecords();
  for (const kind of Object.keys(records) as (keyof Records)[]) {
    const { records: listed } = await client[kind].listReadable();
    for (const record of listed) records[kind].set(record.id, withoutVariables({ ...record }));
  }
  // The rehearsal is still useful without the quota.
  const limits = await client.account.limits().catch(() => undefined);
  return { records, workerQuota: limits?.workerQuota ?? undefined };
}

function withoutVariables(record: Record<string, unknown>): Record<string, unknown> {
  const { env } = record;
  if (!isObject(env)) return record;
  return { ...record, env: Object.fromEntries(Object.keys(env).map((name) => [name, PLACEHOLDER])) };
}

/** An explicit provider may have another account, which was not read. */
const isOfExplicitProvider = ({ __account: account }: Readonly<Record<string, unknown>>) =>
  String(account ?? "").split(" ").length > 2;

/** Returns the account's records, plus those in the state that the account does not show. */
export function merged(ofState: Records, ofAccount: Records): Records {
  const both = noRecords();
  for (const kind of Object.keys(both) as (keyof Records)[]) {
    for (const [id, values] of ofState[kind]) {
      const now = ofAccount[kind].get(id);
      // A record that no longer exists at the service must not exist here either.
      if (now !== undefined)
        both[kind].set(id, {
          ...now,
          env: values.env ?? now.env,
          imageName: values.imageName,
          // REST v2 does not show `templateId`.
          templateId: now.templateId || values.templateId,
          __template: values.__template,
        });
      else if (isOfExplicitProvider(values)) both[kind].set(id, values);
    }
    for (const [id, values] of ofAccount[kind]) if (!both[kind].has(id)) both[kind].set(id, values);
  }
  return both;
}
