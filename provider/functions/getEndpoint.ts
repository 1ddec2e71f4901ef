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

/** Which endpoint to look up: by its id or by its exact name. */
export type GetEndpointArgs =
  | {
      /** Identifier of the endpoint. */
      readonly id: string;
      /** Not beside an id. */
      readonly name?: undefined;
    }
  | {
      /** Not beside a name. */
      readonly id?: undefined;
      /** The exact name. It must be the name of one endpoint only. */
      readonly name: string;
    };

/** An endpoint as the service has it, in normal form, and the address of its queue. */
export interface GetEndpointResult extends Endpoint {
  /** Address of the endpoint's queue. */
  readonly queueUrl: string;
}

const ENDPOINT: DataSource<GetEndpointArgs, GetEndpointResult> = { name: "getEndpoint", find: findEndpoint };

const ENDPOINTS: DataSource<object, GetEndpointResult[]> = {
  name: "getEndpoints",
  find: findEndpoints,
  fromMock: ({ endpoints }) => (endpoints ?? []) as GetEndpointResult[],
};

/**
 * Looks an endpoint up, by its id or by its exact name.
 * @throws NotFoundError when there is none
 * @throws InvalidInputError when several endpoints have the name, with their ids
 * @example
 * const { queueUrl } = await getEndpoint({ name: "llama" });
 */
export function getEndpoint(args: GetEndpointArgs): Promise<GetEndpointResult> {
  return invoke(ENDPOINT, args);
}

/** `getEndpoint` for arguments that are outputs of other resources. Until they are known, the result is unknown. */
export function getEndpointOutput(
  args: InputsOf<GetEndpointArgs>,
  options?: InvokeOutputOptions,
): pulumi.Output<GetEndpointResult> {
  return invokeOutput(ENDPOINT, args, options);
}

/** All endpoints of the account. */
export function getEndpoints(): Promise<GetEndpointResult[]> {
  return invoke(ENDPOINTS, {});
}

/** `getEndpoints` as an output, of another account if need be. */
export function getEndpointsOutput(options?: InvokeOutputOptions): pulumi.Output<GetEndpointResult[]> {
  return invokeOutput(ENDPOINTS, {}, options);
}

async function findEndpoints({ client, queueUrlOf }: DataSourceContext): Promise<GetEndpointResult[]> {
  return (await client.endpoints.list()).map((endpoint) => ({ ...endpoint, queueUrl: queueUrlOf(endpoint.id) }));
}

async function findEndpoint(context: DataSourceContext, { id, name }: GetEndpointArgs): Promise<GetEndpointResult> {
  if ((id === undefined) === (name === undefined)) {
    throw new InvalidInputError("getEndpoint", [{ property: "id", message: "give either id or name" }]);
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
  const message = `${named.length} endpoints are named "${name}": ${named.map((each) => each.id).join(", ")}. Look one up by its id`;
  throw new InvalidInputError("getEndpoint", [{ property: "name", message }]);
}

/** What is not found is looked for once more when the list's lag has passed. */
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
