import type { Endpoint } from "../../sdk/endpoints/record";
import { InvalidInputError, NotFoundError } from "../../sdk/errors/errors";
import type { DataSourceContext } from "./dataSource";
import { lookTwice, requireOne, shownBy } from "./findRecord";

/** Selects an endpoint by its id or by its exact name. */
export type GetEndpointArgs =
  | {
      /** The id of the endpoint. */
      readonly id: string;
      /** Cannot be set together with `id`. */
      readonly name?: undefined;
    }
  | {
      /** Cannot be set together with `name`. */
      readonly id?: undefined;
      /** The exact name of the endpoint. It must be unique among the account's endpoints. */
      readonly name: string;
    };

/** An endpoint as RunPod returns it, in normal form, with the URL of its queue. */
export interface GetEndpointResult extends Omit<Endpoint, "env"> {
  /**
   * The names of the environment variables of the endpoint's own container. The values are omitted
   * because they may be secret.
   */
  readonly envNames: readonly string[];
  /** The URL of the endpoint's queue. */
  readonly queueUrl: string;
}

/** Returns all endpoints of the account. */
export async function findEndpoints({ client, queueUrlOf }: DataSourceContext): Promise<GetEndpointResult[]> {
  return (await client.endpoints.list()).map((endpoint) => toResult(endpoint, queueUrlOf(endpoint.id)));
}

/** Returns an endpoint by its id or by its exact name. */
export async function findEndpoint(
  context: DataSourceContext,
  { id, name }: GetEndpointArgs,
): Promise<GetEndpointResult> {
  requireOne("getEndpoint", { id, name });
  if (id !== undefined) {
    return toResult(await context.client.endpoints.get(id), context.queueUrlOf(id));
  }
  const { named, mayBeCut } = await findNamed(context, name);
  const [only] = named;
  if (!only) {
    throw new NotFoundError(
      `no endpoint of this account${shownBy(mayBeCut)} is named "${name}". Check the name, its case and the API key`,
    );
  }
  if (named.length === 1) return only;
  const message = `${named.length} endpoints are named "${name}": ${named.map((each) => each.id).join(", ")}. Select one by its id`;
  throw new InvalidInputError("getEndpoint", [{ property: "name", message }]);
}

function toResult(
  { kept: _, template: __, unshown: ___, env, ...endpoint }: Endpoint,
  queueUrl: string,
): GetEndpointResult {
  return { ...endpoint, envNames: Object.keys(env).sort(), queueUrl };
}

/** Returns all endpoints with this name. */
async function findNamed(context: DataSourceContext, wanted: string | undefined) {
  const { client, queueUrlOf } = context;
  // Loaded only here, because this file needs the client, and programs start faster without it.
  const { ENDPOINT } = require("../../sdk/endpoints/calls") as typeof import("../../sdk/endpoints/calls");
  const { recordsByName } = require("../../sdk/records/listed") as typeof import("../../sdk/records/listed");
  const look = async () => {
    const listed = await client.endpoints.listReadable();
    const named = recordsByName(ENDPOINT, listed, String(wanted)).map((each) => toResult(each, queueUrlOf(each.id)));
    return { named, mayBeCut: listed.mayBeCut };
  };
  return lookTwice(look, ({ named }) => named.length > 0);
}
