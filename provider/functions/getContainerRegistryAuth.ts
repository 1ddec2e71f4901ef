import type * as pulumi from "@pulumi/pulumi";
import type { RegistryAuth } from "../../sdk/registryAuths/record";
import type { RecordSelector } from "./findRecord";
import { type InputsOf, type InvokeOutputOptions, invoke, invokeOutput } from "./invoke";
import { REGISTRY_AUTH } from "./sources";

/** Selects a registry credential by its id or by its exact name. */
export type GetContainerRegistryAuthArgs = RecordSelector;

/** A registry credential at the service: its id and its name. The service never shows user and password. */
export interface GetContainerRegistryAuthResult extends RegistryAuth {}

/**
 * Returns a registry credential by its id or by its exact name.
 * @throws NotFoundError if there is none
 * @throws AuthenticationError if the service does not accept the key
 */
export function getContainerRegistryAuth(args: GetContainerRegistryAuthArgs): Promise<GetContainerRegistryAuthResult> {
  return invoke(REGISTRY_AUTH, args);
}

/** Does the same as `getContainerRegistryAuth` for arguments that are outputs. The result is unknown until they are known. */
export function getContainerRegistryAuthOutput(
  args: InputsOf<GetContainerRegistryAuthArgs>,
  options?: InvokeOutputOptions,
): pulumi.Output<GetContainerRegistryAuthResult> {
  return invokeOutput(REGISTRY_AUTH, args, options);
}
