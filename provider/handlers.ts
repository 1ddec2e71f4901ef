import { FIELDS } from "../sdk/endpoints/fields";
import type { NamedRecord } from "../sdk/records/listed";
import { endpointHandlers } from "./endpoint/endpointHandlers";
import { forEngine } from "./engineErrors";
import { hideSecretInputs } from "./hideSecretInputs";
import { acceptOtherForm } from "./otherForm";
import { REGISTRY_AUTH_KIND } from "./registryAuth/registryAuthKind";
import { recordHandlers } from "./resource/recordHandlers";
import type { RecordKind } from "./resource/recordKind";
import { smokeTestHandlers } from "./smokeTest/smokeTestHandlers";
import { TEMPLATE_KIND } from "./template/templateKind";
import { VOLUME_KIND } from "./volume/volumeKind";

/** The entry point that state names: `require("pulumi-serverless-gpu/handlers").v1`. Permanent. */
export const v1 = forEngine(hideSecretInputs(acceptOtherForm(endpointHandlers, FIELDS)));

/** The same for a `SmokeTest`: `require("pulumi-serverless-gpu/handlers").smokeTestV1`. Permanent. */
export const smokeTestV1 = forEngine(hideSecretInputs(smokeTestHandlers));

/** The same for a `ServerlessTemplate`: `….templateV1`. Permanent. */
export const templateV1 = handlersOf(TEMPLATE_KIND);

/** The same for a `NetworkVolume`: `….networkVolumeV1`. Permanent. */
export const networkVolumeV1 = handlersOf(VOLUME_KIND);

/** The same for a `ContainerRegistryAuth`: `….registryAuthV1`. Permanent. */
export const registryAuthV1 = handlersOf(REGISTRY_AUTH_KIND);

function handlersOf<T extends NamedRecord>(kind: RecordKind<T>) {
  return forEngine(hideSecretInputs(acceptOtherForm(recordHandlers(kind), kind.table)));
}
