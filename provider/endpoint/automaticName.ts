import { createHash } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import { CONFIG_NAMESPACE } from "../connection/config";

const DIGITS = 7;

/** What `getOrganization` returns on every self-managed backend. */
const NO_ORGANIZATION = "organization";

/**
 * `<logical name>-<7 hex digits>`, the digits from all that tells the resource from others: the same on every run. The
 * stack is unique by its organization or, on a self-managed backend, by the config `serverless-gpu:namespace`.
 */
export function automaticName(logicalName: string, parent: pulumi.Resource | undefined): pulumi.Input<string> {
  const namespace = new pulumi.Config(CONFIG_NAMESPACE).get("namespace");
  const stack = [organizationOrNone(), pulumi.getProject(), pulumi.getStack()];
  const nameUnder = (parentUrn: string): string => {
    const identity = [...(namespace ? [namespace] : []), ...stack, parentUrn, logicalName];
    const digest = createHash("sha256").update(JSON.stringify(identity)).digest("hex");
    return `${logicalName}-${digest.slice(0, DIGITS)}`;
  };
  if (parent === undefined) return nameUnder("");
  // A promise: with an output of the parent's, an endpoint would wait for all of the parent's children, and they for it.
  return new Promise((resolve) => parent.urn.apply((urn) => resolve(nameUnder(urn))));
}

/** Unit tests with Pulumi's mocks may name no organization; `getOrganization` then throws. */
function organizationOrNone(): string {
  try {
    return pulumi.getOrganization();
  } catch {
    return NO_ORGANIZATION;
  }
}
