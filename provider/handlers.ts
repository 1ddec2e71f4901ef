import { endpointHandlers } from "./endpoint/endpointHandlers";
import { forEngine } from "./engineErrors";
import { hideSecretInputs } from "./hideSecretInputs";
import { smokeTestHandlers } from "./smokeTest/smokeTestHandlers";

/** The entry point that state names: `require("pulumi-serverless-gpu/handlers").v1`. Permanent. */
export const v1 = forEngine(hideSecretInputs(endpointHandlers));

/** The same for a `SmokeTest`: `require("pulumi-serverless-gpu/handlers").smokeTestV1`. Permanent. */
export const smokeTestV1 = forEngine(smokeTestHandlers);
