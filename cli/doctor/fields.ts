import type { ProviderSettings } from "../../provider/connection/config";
import { capabilitiesOf } from "../../provider/connection/connection";
import { ENDPOINT_FIELDS, FIELDS } from "../../sdk/endpoints/fields";
import { lackedAt } from "../../sdk/records/fields";
import type { Learned } from "../pulumiCommand";
import { isEndpoint } from "../stack";
import { type CheckResult, warning } from "./check";
import type { Resource } from "./state";

/**
 * Returns a warning for each field that endpoints in state set but the selected management API does
 * not support.
 */
export function checkLackedFields(resources: Learned<readonly Resource[]>, settings: ProviderSettings): CheckResult[] {
  const place = placeOf(settings);
  if ("problem" in resources || !place) return [];
  const endpoints = resources.value.filter(({ type }) => isEndpoint(type));
  return ENDPOINT_FIELDS.flatMap((field) => {
    const lacking = endpoints.flatMap(({ urn, inputs = {} }) => {
      const message = lackedAt(FIELDS[field], inputs[field], place);
      return message === undefined ? [] : [{ name: urn.split("::").at(-1), message }];
    });
    const [first] = lacking;
    if (!first) return [];
    const names = lacking.map(({ name }) => name).join(", ");
    return warning(
      `${field} of ${names} ${first.message}`,
      `Until then, ${field} is neither read nor restored: the endpoints keep the value that they have.`,
    );
  });
}

function placeOf(settings: ProviderSettings): ReturnType<typeof capabilitiesOf> | undefined {
  try {
    return capabilitiesOf(settings);
  } catch {
    return undefined;
  }
}
