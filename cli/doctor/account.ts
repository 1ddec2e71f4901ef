import { CONFIG_NAMESPACE, type ProviderSettings, SETTING_VARIABLES } from "../../provider/connection/config";
import type { Client } from "../../sdk/client/client";
import { ServerlessGpuError } from "../../sdk/errors/errors";
import { type CheckResult, failed, ok, skipped, warning } from "./check";

/**
 * Checks that the key belongs to the account that the setting `account` names. Without the setting,
 * shows the line to add. REST v2 does not show accounts, so the client asks GraphQL.
 */
export async function checkKeyAccount(client: Client, { account }: ProviderSettings): Promise<CheckResult> {
  const found = await client.account.id().catch((error: unknown) => {
    if (error instanceof ServerlessGpuError) return error;
    throw error;
  });
  const where = `${CONFIG_NAMESPACE}:account, or ${SETTING_VARIABLES.account}`;
  if (typeof found !== "string") {
    const problem = `the id of the key's account cannot be read: ${found.message}`;
    if (account === undefined) return skipped(problem);
    return warning(
      `${problem}. The settings name account ${account}, so pulumi up may refuse to write`,
      `Try again later. If it stays unreadable and you are sure of the key, remove ${where}.`,
    );
  }
  if (account === undefined)
    return ok(`${found}. To refuse keys of other accounts, add this line: ${CONFIG_NAMESPACE}:account: ${found}`);
  if (found === account) return ok(`${found}, as the settings say`);
  return failed(
    `the key belongs to account ${found}, but the settings name account ${account}, so pulumi up refuses to write`,
    `Use a key of account ${account}, or correct the setting (${where}).`,
  );
}
