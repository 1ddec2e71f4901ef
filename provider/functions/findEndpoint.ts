import type { Endpoint } from "../../sdk/endpoints/record";
import { InvalidInputError, NotFoundError } from "../../sdk/errors";
import type { DataSourceContext } from "./dataSource";
import { lookTwice, requireOne, shownBy } from "./findRecord";

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
export interface GetEndpointResult extends Omit<Endpoint, "env"> {
  /**
   * Names of the variables of the endpoint's own container. Their values may be secret.
   */
  readonly envNames: readonly string[];
  /** URL of the endpoint's queue. */
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

function toResult({ kept: _, template: __, env, ...endpoint }: Endpoint, queueUrl: string): GetEndpointResult {
  return { ...endpoint, envNames: Object.keys(env).sort(), queueUrl };
}

/** Returns the endpoints with a name. */
async function findNamed(context: DataSourceContext, wanted: string | undefined) {
  const { client, queueUrlOf } = context;
  // Loaded here: it needs the client, without which programs start faster.
  const { ENDPOINT } = require("../../sdk/endpoints/calls") as typeof import("../../sdk/endpoints/calls");
  const { recordsByName } = require("../../sdk/records/listed") as typeof import("../../sdk/records/listed");
  const look = async () => {
    const listed = await client.endpoints.listReadable();
    const named = recordsByName(ENDPOINT, listed, String(wanted)).map((each) => toResult(each, queueUrlOf(each.id)));
    return { named, mayBeCut: listed.mayBeCut };
  };
  return lookTwice(look, ({ named }) => named.length > 0);
}
