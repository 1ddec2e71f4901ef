import type * as pulumi from "@pulumi/pulumi";
import { sleep, systemClock } from "../../sdk/contract/clock";
import { LIST_LAG_MS } from "../../sdk/contract/limits";
import { endpointsByName } from "../../sdk/endpoints/listRecords";
import type { Endpoint } from "../../sdk/endpoints/record";
import { InvalidInputError, NotFoundError } from "../../sdk/errors";
import {
  type DataSource,
  type DataSourceContext,
  type InputsOf,
  type InvokeOutputOptions,
  invoke,
  invokeOutput,
} from "./invoke";

/** Selects an endpoint by its id or by its exact name. */
export type GetEndpointArgs =
  | {
      /** Id of the endpoint. */
      readonly id: string;
      /** Not together with `id`. */
      readonly name?: undefined;
    }
  | {
      /** Not together with `name`. */
      readonly id?: undefined;
      /** Exact name of the endpoint. Only one endpoint may have it. */
      readonly name: string;
    };

/** An endpoint at the service, in normal form, with the URL of its queue. */
export interface GetEndpointResult extends Endpoint {
  /** URL of the endpoint's queue. */
  readonly queueUrl: string;
}

const ENDPOINT: DataSource<GetEndpointArgs, GetEndpointResult> = { name: "getEndpoint", find: findEndpoint };

const ENDPOINTS: DataSource<object, GetEndpointResult[]> = {
  name: "getEndpoints",
  find: findEndpoints,
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
  return invoke(ENDPOINTS, {});
}

/** Does the same as `getEndpoints`, as an output. The option `provider` selects another account. */
export function getEndpointsOutput(options?: InvokeOutputOptions): pulumi.Output<GetEndpointResult[]> {
  return invokeOutput(ENDPOINTS, {}, options);
}

async function findEndpoints({ client, queueUrlOf }: DataSourceContext): Promise<GetEndpointResult[]> {
  return (await client.endpoints.list()).map((endpoint) => ({ ...endpoint, queueUrl: queueUrlOf(endpoint.id) }));
}

async function findEndpoint(context: DataSourceContext, { id, name }: GetEndpointArgs): Promise<GetEndpointResult> {
  if ((id === undefined) === (name === undefined)) {
    throw new InvalidInputError("getEndpoint", [{ property: "id", message: "set either id or name" }]);
  }
  if (id !== undefined) {
    const endpoint = await context.client.endpoints.get(id);
    return { ...endpoint, queueUrl: context.queueUrlOf(id) };
  }
  const named = await findNamed(context, name);
  const [only] = named;
  if (!only) {
    throw new NotFoundError(`no endpoint of this account is named "${name}". Check the name, its case and the API key`);
  }
  if (named.length === 1) return only;
  const message = `${named.length} endpoints are named "${name}": ${named.map((each) => each.id).join(", ")}. Select one by its id`;
  throw new InvalidInputError("getEndpoint", [{ property: "name", message }]);
}

/** Returns the endpoints with a name. If there are none, it tries once more after the lag of the list. */
async function findNamed(context: DataSourceContext, wanted: string | undefined): Promise<GetEndpointResult[]> {
  const { client, queueUrlOf } = context;
  const look = async () =>
    endpointsByName(await client.endpoints.listReadable(), String(wanted)).map((endpoint) => ({
      ...endpoint,
      queueUrl: queueUrlOf(endpoint.id),
    }));
  const named = await look();
  if (named.length > 0) return named;
  await sleep(systemClock, LIST_LAG_MS);
  return look();
}
