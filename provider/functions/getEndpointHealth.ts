import type * as pulumi from "@pulumi/pulumi";
import type { EndpointHealth } from "../../sdk/jobs/jobRecord";
import {
  type DataSource,
  type DataSourceContext,
  type InputsOf,
  type InvokeOutputOptions,
  invoke,
  invokeOutput,
} from "./invoke";

/** Whose health to look up. */
export interface GetEndpointHealthArgs {
  /** Identifier of the endpoint. */
  readonly endpointId: string;
}

/** Numbers of jobs and of workers by their state. */
export interface GetEndpointHealthResult extends EndpointHealth {}

const HEALTH: DataSource<GetEndpointHealthArgs, GetEndpointHealthResult> = {
  name: "getEndpointHealth",
  find: findHealth,
};

/**
 * The numbers of jobs and workers of an endpoint (contract, Health record).
 * @throws NotFoundError when there is no such endpoint
 * @example
 * const { workers } = await getEndpointHealth({ endpointId: "abc123" });
 */
export function getEndpointHealth(args: GetEndpointHealthArgs): Promise<GetEndpointHealthResult> {
  return invoke(HEALTH, args);
}

/** `getEndpointHealth` for arguments that are outputs of other resources. Until they are known, the result is unknown. */
export function getEndpointHealthOutput(
  args: InputsOf<GetEndpointHealthArgs>,
  options?: InvokeOutputOptions,
): pulumi.Output<GetEndpointHealthResult> {
  return invokeOutput(HEALTH, args, options);
}

function findHealth(
  { client }: DataSourceContext,
  { endpointId }: GetEndpointHealthArgs,
): Promise<GetEndpointHealthResult> {
  return client.endpoint(endpointId).health();
}
