import { type AccountIdentity, accountOf } from "../../provider/connection/account";
import type { ProviderSettings } from "../../provider/connection/config";
import { leftAdoptionWarnings } from "../../provider/rollOut/adopting";
import { type Finding, warning } from "./check";

/**
 * Returns the endpoints that a killed run on this machine was about to adopt. A stack without
 * resources of this package starts no provider that would name them.
 */
export function checkLeftAdoptions(settings: ProviderSettings): Finding[] {
  const account = accountIn(settings);
  const warnings = account ? leftAdoptionWarnings(account, () => false) : [];
  const fix = "Run pulumi up if the program still adopts it, otherwise the command that is named.";
  return warnings.map((text) => warning(text, fix));
}

/** Returns `undefined` if a setting is missing or wrong, which other checks report. */
function accountIn(settings: ProviderSettings): AccountIdentity | undefined {
  try {
    return accountOf(settings);
  } catch {
    return undefined;
  }
}
