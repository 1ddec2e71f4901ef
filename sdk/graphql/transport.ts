import { GraphQLClient } from "graphql-request";
import { ServerlessGpuError } from "../errors/errors";
import type { SecretText } from "../errors/secretText";
import type { Attempt } from "../transport/call";
import type { Http, WholeResponse } from "../transport/httpRequest";
import { decodeJson, errorFromStatus, retiredInterface, unexpectedResponse } from "../transport/responseErrors";
import { send } from "../transport/send";
import { INTERFACE_PATHS } from "../transport/urls";
import { BrokenFieldError, brokenFields, envelopeSchema, errorFromGraphql, errorsIn } from "./errors";

/** A GraphQL enum value. It is written without quotes. */
export class EnumValue {
  constructor(readonly name: string) {
    if (!/^(?!(?:true|false|null)$)[_A-Za-z][_0-9A-Za-z]*$/.test(name)) {
      throw new RangeError(`${JSON.stringify(name)} cannot be written as a GraphQL enum value`);
    }
  }
}

/** A value that can be written as a GraphQL literal. */
export type Literal =
  | string
  | number
  | boolean
  | null
  | EnumValue
  | readonly Literal[]
  | { readonly [field: string]: Literal | undefined };

/** A single operation with a single root field. */
interface RootField {
  readonly type: "query" | "mutation";
  readonly name: string;
  readonly args?: Readonly<Record<string, Literal>>;
  /** The fields to select, as GraphQL without the outer braces. */
  readonly selection?: string;
}

/**
 * Returns the query for one operation. It has no name and no variables, because the contract's
 * request body contains only `query`.
 */
export function toQuery({ type, name, args = {}, selection }: RootField): string {
  const given = Object.entries(args).map(([argument, value]) => `${argument}: ${toLiteral(value)}`);
  const inParentheses = given.length === 0 ? "" : `(${given.join(", ")})`;
  const root = `{ ${name}${inParentheses}${selection === undefined ? "" : ` { ${selection} }`} }`;
  return type === "query" ? root : `${type} ${root}`;
}

/** Returns a value as a GraphQL literal. Fields that are `undefined` are left out. */
function toLiteral(value: Literal): string {
  // Every JSON string is also a valid GraphQL string.
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number" && !Number.isFinite(value))
    throw new RangeError(`${value} cannot be written as a GraphQL literal`);
  if (typeof value !== "object" || value === null) return String(value);
  if (value instanceof EnumValue) return value.name;
  if (isList(value)) return `[${value.map(toLiteral).join(", ")}]`;
  const fields = Object.entries(value).flatMap(([field, each]) =>
    each === undefined ? [] : [`${field}: ${toLiteral(each)}`],
  );
  return `{${fields.join(", ")}}`;
}

function isList(value: Literal): value is readonly Literal[] {
  return Array.isArray(value);
}

/** The connection to the GraphQL API of one account. */
export interface GraphqlTransport {
  readonly http: Http;
  /**
   * The API key of the account.
   * @default none: the request needs no account
   */
  readonly apiKey: SecretText | undefined;
  /**
   * Returns the URL of the API, without `/graphql`.
   * @throws ConfigurationError if there is none
   */
  readonly url: () => string;
  /**
   * Called after each request with the status of its response, or with `undefined` if none arrived.
   */
  readonly onStatus?: ((status: number | undefined) => void) | undefined;
}

const JSON_CONTENT = { "content-type": "application/json" };

/**
 * The pauses after responses with status 429 that do not specify a pause, in seconds. The service
 * counts requests per minute (announced), so six attempts must take longer than a minute.
 */
const QUOTA_PAUSES_S = [0, 5, 15, 20, 25];

function withPause(response: WholeResponse, { number }: Attempt): WholeResponse {
  const seconds = QUOTA_PAUSES_S[number - 1];
  if (response.status !== 429 || response.headers["retry-after"] !== undefined || !seconds) return response;
  return { ...response, headers: { ...response.headers, "retry-after": String(seconds) } };
}

/**
 * Returns the value of a root field in the response to `execute`.
 * @throws UnexpectedResponseError if the response does not contain it
 */
export function rootValue(data: Readonly<Record<string, unknown>>, name: string, operation: string): unknown {
  const value = data[name];
  if (value === undefined) throw unexpectedResponse(operation, `no data.${name}`, { data });
  return value;
}

/**
 * Sends a query that may have several root fields, without retries. Returns their values. The HTTP
 * status is checked first: only the body of a 2xx response, or of a 400 response with GraphQL
 * errors, is read as GraphQL.
 * @param name the name of the operation in events
 * @throws the typed error that corresponds to the response
 */
export async function execute(
  { http, apiKey, url: baseUrl, onStatus }: GraphqlTransport,
  operation: string,
  name: string,
  query: string,
  attempt: Attempt,
): Promise<Readonly<Record<string, unknown>>> {
  let response: WholeResponse | undefined;
  const client = new GraphQLClient(baseUrl() + INTERFACE_PATHS.graphqlUrl, {
    async fetch(url, init) {
      response = await send(http, {
        name,
        operation,
        method: "POST",
        url: apiKey ? `${url}?api_key=${encodeURIComponent(apiKey.reveal())}` : String(url),
        headers: JSON_CONTENT,
        body: String(init?.body),
        attempt,
      }).catch((error: unknown) => {
        onStatus?.(undefined);
        throw error;
      });
      onStatus?.(response.status);
      const failure = failureIn(response, operation, attempt, http);
      if (failure) throw failure;
      return new Response(response.body, { headers: JSON_CONTENT });
    },
    jsonSerializer: { stringify: JSON.stringify, parse: (body) => envelopeSchema.parse(JSON.parse(body)) },
    errorPolicy: "all",
    excludeOperationName: true,
  });
  const { data, errors } = await client.rawRequest<Record<string, unknown> | null>(query).catch((error: unknown) => {
    if (!response || error instanceof ServerlessGpuError) throw error;
    const body = decodeJson(response, operation, http.clock.now());
    throw unexpectedResponse(operation, "neither GraphQL data nor GraphQL errors", body);
  });
  const broken = errors?.length && !query.startsWith("mutation") ? brokenFields(errors) : [];
  if (broken.length > 0) throw new BrokenFieldError(operation, broken, data);
  if (errors?.length) throw errorFromGraphql(errors, operation, true);
  if (!data) throw unexpectedResponse(operation, `no data.${name}`, { data });
  return data;
}

/** Returns the typed error for a response that is not to be read as GraphQL. */
function failureIn(
  response: WholeResponse,
  operation: string,
  attempt: Attempt,
  { clock }: Http,
): ServerlessGpuError | undefined {
  const reasons = response.status === 400 ? errorsIn(response.body) : undefined;
  if (reasons?.length) return errorFromGraphql(reasons, operation, false);
  return retiredInterface(response, operation) ?? errorFromStatus(withPause(response, attempt), operation, clock.now());
}
