import type * as pulumi from "@pulumi/pulumi";
import type { GetEndpointArgs, GetEndpointResult } from "./findEndpoint";
import { type CalledSource, type InputsOf, type InvokeOutputOptions, invoke, invokeOutput } from "./invoke";
import { ENDPOINT, ENDPOINTS } from "./sources";

export type { GetEndpointArgs, GetEndpointResult };

const LIST: CalledSource<object, GetEndpointResult[]> = {
  ...ENDPOINTS,
  fromMock: ({ endpoints }) => (endpoints ?? []) as GetEndpointResult[],
};

/**
 * Returns an endpoint by its id or by its exact name.
 * @throws NotFoundError if no endpoint has the id or the name
 * @throws InvalidInputError if several endpoints have the name; it lists their ids
 * @throws AuthenticationError if the service does not accept the key
 * @example
 * const { queueUrl } = await getEndpoint({ name: "llama" });
 */
export function getEndpoint(args: GetEndpointArgs): Promise<GetEndpointResult> {
  return invoke(ENDPOINT, args);
}

/** Does the same as `getEndpoint` for arguments that are outputs. The result is unknown until the arguments are known. */
export function getEndpointOutput(
  args: InputsOf<GetEndpointArgs>,
  options?: InvokeOutputOptions,
): pulumi.Output<GetEndpointResult> {
  return invokeOutput(ENDPOINT, args, options);
}

/**
 * Returns all endpoints of the account.
 * @throws AuthenticationError if the service does not accept the key
 */
export function getEndpoints(): Promise<GetEndpointResult[]> {
  return invoke(LIST, {});
}

/** Does the same as `getEndpoints`, as an output. The option `provider` selects another account. */
export function getEndpointsOutput(options?: InvokeOutputOptions): pulumi.Output<GetEndpointResult[]> {
  return invokeOutput(LIST, {}, options);
}
