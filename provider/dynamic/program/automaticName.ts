import * as pulumi from "@pulumi/pulumi";
import { CONFIG_NAMESPACE } from "../../connection/config";
import { hashedName } from "../../fields/naming";

/** The name that `getOrganization` returns with every self-managed backend. */
const NO_ORGANIZATION = "organization";

/**
 * Returns the logical name with a hash of everything that identifies the resource. The organization
 * tells apart stacks with the same name. With a self-managed backend, the config
 * `serverless-gpu:namespace` does.
 */
export function automaticName(logicalName: string, parent: pulumi.Resource | undefined): pulumi.Input<string> {
  const namespace = new pulumi.Config(CONFIG_NAMESPACE).get("namespace");
  const stack = [organizationOrNone(), pulumi.getProject(), pulumi.getStack()];
  const nameUnder = (parentUrn: string): string =>
    hashedName(logicalName, [...(namespace ? [namespace] : []), ...stack, parentUrn, logicalName]);
  if (parent === undefined) return nameUnder("");
  // Don't use an output of the parent: the resource would then wait for all of the parent's
  // children, and they would wait for the resource.
  return new Promise((resolve) => parent.urn.apply((urn) => resolve(nameUnder(urn))));
}

/** Returns the organization. `getOrganization` throws in unit tests whose mocks have none. */
function organizationOrNone(): string {
  try {
    return pulumi.getOrganization();
  } catch {
    return NO_ORGANIZATION;
  }
}
