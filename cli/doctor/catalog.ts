import type { ProviderSettings } from "../../provider/connection/config";
import { requireApiKey } from "../../sdk/connection/settings";
import { costsOf, priceSources } from "../check/cost";
import { findingsOf, foreignVolumes } from "../check/findings";
import { lookUp } from "../check/lookUps";
import { type Planned, plannedSame } from "../check/preview";
import type { Learned } from "../pulumiCommand";
import { isEndpoint } from "../stack";
import { type CheckResult, warning } from "./check";
import { problemOf } from "./settings";
import type { Resource } from "./state";

/**
 * Returns a warning for each problem that the service's catalog and the account's limits show with
 * the endpoints in state. Data that cannot be read causes no warning.
 */
export async function checkCatalog(
  resources: Learned<readonly Resource[]>,
  settings: ProviderSettings,
): Promise<CheckResult[]> {
  if ("problem" in resources || settings.service?.trim() !== "runpod" || settings.apiKey === undefined) return [];
  // Other checks report a key that cannot be sent.
  if (problemOf(() => requireApiKey(settings)) !== undefined) return [];
  const endpoints = resources.value.filter(({ type }) => isEndpoint(type));
  if (endpoints.length === 0) return [];
  const planned: Planned[] = endpoints.map(plannedSame);
  const { apiKey, graphqlUrl, restUrl, queueUrl } = settings;
  const answers = await lookUp(
    { apiKey, service: "runpod", graphqlUrl, restUrl, queueUrl },
    { gpuCounts: [1], cpus: false, places: true, account: true, volumes: foreignVolumes(planned).length > 0 },
  );
  const findings = findingsOf(planned, answers, costsOf(planned, priceSources(answers, undefined)), []);
  return findings.map(({ resource, message }) =>
    warning(`${resource === undefined ? "" : `${resource}: `}${message}`, "Change the program and run pulumi up."),
  );
}
