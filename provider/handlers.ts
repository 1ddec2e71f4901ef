import "../sdk/contract/requireNode";

import type * as pulumi from "@pulumi/pulumi";
import type { NamedRecord } from "../sdk/records/listed";
import { leftAdoptionWarnings } from "./adoption/left";
import { overAutomaticApi } from "./connection/automaticApi";
import { CONFIG_NAMESPACE } from "./connection/config";
import { currentPlace, readConfig } from "./connection/connection";
import { noteOnEnd } from "./connection/settingsProblems";
import { acceptPluginState } from "./dynamic/pluginState";
import { ENDPOINT_KIND } from "./endpoint/endpointKind";
import { lifeCycle } from "./endpoint/lifeCycle";
import { type AnyHandler, wrapHandlers } from "./engine/errors";
import { forEngine } from "./engine/forEngine";
import { log } from "./engine/log";
import { REGISTRY_AUTH_KIND } from "./kinds/registryAuthKind";
import { SECRET_KIND } from "./kinds/secretKind";
import { TEMPLATE_KIND } from "./kinds/templateKind";
import { VOLUME_KIND } from "./kinds/volumeKind";
import { isDeclared } from "./ownership/owners";
import { recordHandlers } from "./records/recordHandlers";
import type { RecordKind } from "./records/recordKind";
import { comparingKnown } from "./records/rehearsedDiff";
import { smokeTestHandlers } from "./smokeTest/smokeTestHandlers";

/**
 * The entry point that state refers to: `require("pulumi-serverless-gpu/handlers").v1`. It must
 * never change.
 */
export const v1 = handlersOf(ENDPOINT_KIND, lifeCycle(recordHandlers(ENDPOINT_KIND)));

/**
 * The entry point for a `SmokeTest`: `require("pulumi-serverless-gpu/handlers").smokeTestV1`. It
 * must never change.
 */
export const smokeTestV1 = forEngine(
  namingEndOfGraphql(namingLeftAdoptions(overAutomaticApi(smokeTestHandlers, false))),
);

/** The entry point for a `ServerlessTemplate`: `….templateV1`. It must never change. */
export const templateV1 = handlersOf(TEMPLATE_KIND);

/** The entry point for a `NetworkVolume`: `….networkVolumeV1`. It must never change. */
export const networkVolumeV1 = handlersOf(VOLUME_KIND);

/** The entry point for a `ContainerRegistryAuth`: `….registryAuthV1`. It must never change. */
export const registryAuthV1 = handlersOf(REGISTRY_AUTH_KIND);

/** The entry point for a `Secret`: `….secretV1`. It must never change. */
export const secretV1 = handlersOf(SECRET_KIND);

/** Handlers for the engine. They name their kind, so that the plugin can serve it as well. */
export interface ServedKind extends pulumi.dynamic.ResourceProvider {
  readonly kind: RecordKind<NamedRecord, object>;
}

function handlersOf<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  handlers: Required<pulumi.dynamic.ResourceProvider> = recordHandlers(kind),
): ServedKind {
  const served = forEngine(
    namingEndOfGraphql(
      namingLeftAdoptions(
        acceptPluginState(comparingKnown(overAutomaticApi(handlers, kind.noun === ENDPOINT_KIND.noun)), kind.table),
      ),
    ),
  );
  return { ...served, kind: kind as unknown as ServedKind["kind"] };
}

/** `true` once this process has said when the service shuts down GraphQL. */
let hasSaidEnd = false;

/**
 * Returns handlers that, on the first call of a preview, an `up` or a refresh, log when the service
 * shuts down GraphQL, if it is used. A refresh does not run the program, which could log this.
 */
function namingEndOfGraphql(handlers: pulumi.dynamic.ResourceProvider): pulumi.dynamic.ResourceProvider {
  return wrapHandlers(handlers, (handler) => async (...args) => {
    const note = hasSaidEnd ? undefined : noteOnEnd(readConfig);
    hasSaidEnd = true;
    if (note !== undefined) log(CONFIG_NAMESPACE, note);
    return handler(...args);
  });
}

/**
 * `true` once this process has looked for such endpoints. Looking once is enough, because a process
 * serves one deployment.
 */
let hasLooked = false;

/**
 * Returns handlers that, on the first call after a `check`, log the records that a killed run on
 * this machine was about to adopt. They are in no state, so the first resource of any kind logs
 * them. This makes no request, so it also happens in a preview.
 */
function namingLeftAdoptions({ check, ...others }: pulumi.dynamic.ResourceProvider): pulumi.dynamic.ResourceProvider {
  return { ...(check && { check }), ...wrapHandlers(others, named) };
}

function named(handler: AnyHandler): AnyHandler {
  return async (...args) => {
    const account = hasLooked ? undefined : currentPlace()?.account;
    if (account) {
      hasLooked = true;
      for (const warning of leftAdoptionWarnings(account, isDeclared)) log("serverless-gpu", `warning: ${warning}`);
    }
    return handler(...args);
  };
}
