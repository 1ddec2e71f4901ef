import { CheckRequest } from "@pulumi/pulumi/proto/provider_pb";
import type { Properties } from "../../provider/properties";
import { hashedName } from "../../provider/resource/hashedName";

const { Mode } = CheckRequest.AutonamingOptions;

/** A resource whose program sets no name. */
export interface Nameless {
  readonly urn: string;
  readonly logicalName: string;
  /** `true` if the check of the inputs adds random digits. Otherwise the digits are a hash. */
  readonly hasUniqueNames: boolean;
  /** The setting `serverless-gpu:namespace`, which distinguishes stacks of the same name. */
  readonly namespace: string | undefined;
  /** The decision of `pulumi:autonaming`, if the stack or the project has one. */
  readonly autonaming: CheckRequest.AutonamingOptions.AsObject | undefined;
}

/**
 * Returns the inputs for the automatic name. The name is the same on every run, so that a create whose response was lost
 * meets its own endpoint, and refuses to make another.
 */
export function automaticName({ urn, logicalName, hasUniqueNames, namespace, autonaming }: Nameless): Properties {
  if (autonaming?.mode === Mode.DISABLE) return {};
  if (autonaming?.proposedName) return { proposedName: autonaming.proposedName };
  if (hasUniqueNames) return { automaticName: logicalName };
  return { automaticName: hashedName(logicalName, [...(namespace ? [namespace] : []), urn]) };
}
