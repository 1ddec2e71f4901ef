import type * as pulumi from "@pulumi/pulumi";
import { currentPlace } from "../connection/connection";
import { type Handler, wrapHandlers } from "../engineErrors";
import { log } from "../log";
import { isClaimed } from "../ownership/owners";
import { leftAdoptionWarnings } from "./adopting";

/** `true` once this process has looked. A process serves one deployment. */
let hasLooked = false;

/**
 * Returns handlers of which the first call after a `check` names the endpoints that a killed run of
 * this machine was about to adopt. No state has those, so the first resource of any kind does it.
 * It makes no request, so a preview does it too.
 */
export function namingLeftAdoptions({
  check,
  ...others
}: pulumi.dynamic.ResourceProvider): pulumi.dynamic.ResourceProvider {
  return { ...(check && { check }), ...wrapHandlers(others, named) };
}

function named(handler: Handler): Handler {
  return async (...args) => {
    const account = hasLooked ? undefined : currentPlace()?.account;
    if (account) {
      hasLooked = true;
      for (const warning of leftAdoptionWarnings(account, isClaimed)) log("serverless-gpu", `warning: ${warning}`);
    }
    return handler(...args);
  };
}
