import { leftAdoptionWarnings } from "../../provider/adoption/left";
import { type AccountIdentity, accountOf } from "../../provider/connection/account";
import type { ProviderSettings } from "../../provider/connection/config";
import type { Learned } from "../pulumiCommand";
import { type CheckResult, warning } from "./check";
import type { Resource } from "./state";

/**
 * Returns the endpoints that a killed run on this machine was adopting. If the stack contains no
 * resource of this package, no provider process runs that would report them.
 * @param resources the stack's resources: if one of them manages the endpoint, it was adopted later
 */
export function checkLeftAdoptions(settings: ProviderSettings, resources: Learned<readonly Resource[]>): CheckResult[] {
  const account = accountIn(settings);
  const ids = "problem" in resources ? [] : resources.value.map(({ id }) => id);
  const warnings = account ? leftAdoptionWarnings(account, (id) => ids.includes(id)) : [];
  const fix = "If a stack manages it or still adopts it, run pulumi up. Otherwise, run the command in this warning.";
  return warnings.map((text) => warning(text, fix));
}

/** Returns `undefined` if a setting is missing or invalid, which other checks report. */
function accountIn(settings: ProviderSettings): AccountIdentity | undefined {
  try {
    return accountOf(settings);
  } catch {
    return undefined;
  }
}
