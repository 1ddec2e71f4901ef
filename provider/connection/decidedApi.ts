import { isEndSign } from "../../sdk/connection/endSigns";
import type { ManagementApi } from "../../sdk/contract/limits";

/** The API of this run, if no setting selects one. A process serves one run. */
let decided: ManagementApi | undefined;

/**
 * Returns the API that the run has decided to use, or `undefined` as long as nothing has been
 * decided.
 */
export function decidedApi(): ManagementApi | undefined {
  return decided;
}

/** Decides which API the run uses. */
export function decideApi(api: ManagementApi): void {
  decided = api;
}

/**
 * Makes the run keep GraphQL once a response shows that the service serves it. A request without a
 * response has the same effect, because it may have been a write.
 */
export function noteGraphqlStatus(status: number | undefined): void {
  if (status === undefined || !isEndSign(status)) decided ??= "graphql";
}

/** Returns `true` if this run uses REST v2 because the service no longer serves GraphQL. */
export function hasSwitched(): boolean {
  return decided === "v2";
}
