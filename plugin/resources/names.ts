import { CheckRequest } from "@pulumi/pulumi/proto/provider_pb";
import { hashedName } from "../../provider/fields/naming";
import type { Properties } from "../../provider/properties";

const { Mode } = CheckRequest.AutonamingOptions;

/** A resource whose program sets no name. */
export interface Nameless {
  readonly urn: string;
  readonly logicalName: string;
  /** The setting `serverless-gpu:namespace`, which distinguishes stacks with the same name. */
  readonly namespace: string | undefined;
  /** The decision of `pulumi:autonaming`, if the stack or the project has one. */
  readonly autonaming: CheckRequest.AutonamingOptions.AsObject | undefined;
}

/**
 * Returns the inputs for the automatic name. The name is the same on every run, so that after a
 * create whose response was lost, the next create finds the endpoint and does not make another.
 */
export function automaticNameInputs({ urn, logicalName, namespace, autonaming }: Nameless): Properties {
  if (autonaming?.mode === Mode.DISABLE) return {};
  return {
    automaticName: hashedName(logicalName, [...(namespace ? [namespace] : []), urn]),
    ...(autonaming?.proposedName ? { proposedName: autonaming.proposedName } : {}),
  };
}
