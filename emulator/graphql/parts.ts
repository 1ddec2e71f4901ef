import type { Clock } from "../../sdk/contract/clock";
import type { AccountUse, ServerlessDiscount } from "../catalog/accountLimits";
import type { Catalog } from "../catalog/catalog";
import type { Endpoints } from "../endpoints/endpoints";
import type { Profile } from "../model/fidelity";
import type { Pods } from "../pods/pods";
import type { RegistryAuths } from "../registryAuths/registryAuths";
import type { Secrets } from "../secrets/secrets";
import type { Templates } from "../templates/templates";
import type { Volumes } from "../volumes/volumes";
import type { Billing } from "../workers/billing";
import { billingPart, discountPart, limitsPart, userPart } from "./account";
import { catalogPart } from "./catalog";
import { endpointPart } from "./endpoints";
import type { GraphqlPart } from "./part";
import { podPart } from "./pods";
import { registryAuthPart } from "./registryAuths";
import { secretPart } from "./secrets";
import { templatePart } from "./templates";
import { volumePart } from "./volumes";

/** The parts of the emulator that GraphQL shows. */
export interface GraphqlShown {
  readonly endpoints: Endpoints;
  readonly pods: Pods;
  readonly volumes: Volumes;
  readonly templates: Templates;
  readonly registryAuths: RegistryAuths;
  readonly secrets: Secrets;
  readonly catalog: Catalog;
  readonly billing: Billing;
  /** Returns how much of its limits the account uses. */
  readonly use: () => AccountUse;
  readonly serverlessDiscount: ServerlessDiscount | null;
  /** The id of the account, `myself.id`. */
  readonly accountId: string;
}

/** Returns all parts of the GraphQL API. */
export function graphqlParts(shown: GraphqlShown, profile: Profile, clock: Clock): GraphqlPart[] {
  const { endpoints, templates, volumes, accountId } = shown;
  return [
    secretPart(shown.secrets),
    registryAuthPart(shown.registryAuths, profile),
    templatePart(templates, profile),
    volumePart(volumes, profile),
    endpointPart({ endpoints, profile, templates, findVolume: volumes.find, accountId, now: () => clock.now() }),
    catalogPart(shown.catalog, profile),
    limitsPart(shown.use, profile),
    billingPart(shown.billing, profile),
    userPart(shown.accountId, profile),
    podPart(shown.pods, profile),
    discountPart(shown.serverlessDiscount),
  ];
}
