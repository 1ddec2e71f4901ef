import { RUNPOD_LOCATIONS } from "../contract/enums";
import type { ApiSettings } from "./settings";

/** Words of the service that this version would refuse. */
export interface AcceptWords {
  /**
   * GPU pools and countries to accept although they look like typos of known ones, such as a new
   * pool with the name `HOPPER_142`. Other new pools need no setting. Additional countries of a
   * named service are accepted in any case.
   * @default none
   */
  readonly acceptWords?: readonly string[] | undefined;
}

/** Returns the words to accept: those in the settings, and those that the named service accepts. */
export function acceptedInputs({ service, api, acceptWords = [] }: ApiSettings & AcceptWords): {
  acceptWords: string[];
  countries: readonly string[];
  wholeScalerValue: boolean;
} {
  const isRunpod = service?.trim() === "runpod";
  return {
    acceptWords: [...new Set(acceptWords)],
    countries: isRunpod ? RUNPOD_LOCATIONS : [],
    // The service's GraphQL schema declares `scalerValue` as an Int (observed). If no API is set, a
    // fraction is possible, because REST v2 may be used.
    wholeScalerValue: isRunpod && api?.trim() === "graphql",
  };
}
