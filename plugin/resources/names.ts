import { CheckRequest } from "@pulumi/pulumi/proto/provider_pb";
import type { Properties } from "../../provider/engine/properties";
import { hashedName } from "../../provider/fields/naming";

const { Mode } = CheckRequest.AutonamingOptions;

/** A resource for which the program sets no name. */
export interface Nameless {
  readonly urn: string;
  readonly logicalName: string;
  /** The setting `serverless-gpu:namespace`, which tells apart stacks with the same name. */
  readonly namespace: string | undefined;
  /** The result of `pulumi:autonaming`, if the stack or project sets it. */
  readonly autonaming: CheckRequest.AutonamingOptions.AsObject | undefined;
}

/**
 * Returns the inputs for the automatic name. The name is the same in every run, so that if the
 * response to a create is lost, the next create finds the endpoint instead of making another.
 */
export function automaticNameInputs({ urn, logicalName, namespace, autonaming }: Nameless): Properties {
  if (autonaming?.mode === Mode.DISABLE) return {};
  return {
    automaticName: hashedName(logicalName, [...(namespace ? [namespace] : []), urn]),
    ...(autonaming?.proposedName ? { proposedName: autonaming.proposedName } : {}),
  };
}
