import type * as pulumi from "@pulumi/pulumi";
import type { EndpointHealth } from "../../sdk/jobs/jobRecord";
import { type InputsOf, type InvokeOutputOptions, invoke, invokeOutput } from "./invoke";
import { HEALTH } from "./sources";

/** Selects the endpoint. */
export interface GetEndpointHealthArgs {
  /** Id of the endpoint. */
  readonly endpointId: string;
}

/** The numbers of jobs and workers in each state. */
export interface GetEndpointHealthResult extends EndpointHealth {}

/**
 * Returns the numbers of jobs and workers of an endpoint.
 * @throws NotFoundError if the endpoint does not exist
 * @throws AuthenticationError if the service does not accept the key
 * @example
 * const { workers } = await getEndpointHealth({ endpointId: "abc123" });
 */
export function getEndpointHealth(args: GetEndpointHealthArgs): Promise<GetEndpointHealthResult> {
  return invoke(HEALTH, args);
}

/** Does the same as `getEndpointHealth` for arguments that are outputs. The result is unknown until they are known. */
export function getEndpointHealthOutput(
  args: InputsOf<GetEndpointHealthArgs>,
  options?: InvokeOutputOptions,
): pulumi.Output<GetEndpointHealthResult> {
  return invokeOutput(HEALTH, args, options);
}
