import { type DocumentNode, Kind, OperationTypeNode, parse, type SelectionSetNode, type ValueNode } from "graphql";
import { ClientError, GraphQLClient } from "graphql-request";
import { z } from "zod";
import {
  AuthenticationError,
  BusinessRuleError,
  NotFoundError,
  QuotaExceededError,
  RejectedError,
  type ServerlessGpuError,
  ServiceFaultError,
} from "../errors";
import type { Secret } from "../secret";
import { addressOf, decodeJson, type Http, type HttpResponse, send, unexpectedResponse } from "./http";
import type { Attempt } from "./retryingCall";

/** A GraphQL enum value, printed without quotes. */
export class EnumValue {
  constructor(readonly name: string) {
    if (!/^(?!(?:true|false|null)$)[_A-Za-z][_0-9A-Za-z]*$/.test(name)) {
      throw new RangeError(`${JSON.stringify(name)} cannot be written as a GraphQL enum value`);
    }
  }
}

/** A value that can be written as a GraphQL literal. */
export type Literal = string | number | boolean | null | EnumValue | { readonly [field: string]: Literal | undefined };

/** One operation on one root field. */
export interface RootField {
  readonly type: "query" | "mutation";
  readonly name: string;
  readonly args?: Readonly<Record<string, Literal>>;
  /** The fields to select, as GraphQL text without braces. */
  readonly selection?: string;
}

/** The document: unnamed and without variables, because the contract's body has the one field `query`. */
export function toDocument({ type, name, args = {}, selection }: RootField): DocumentNode {
  return {
    kind: Kind.DOCUMENT,
    definitions: [
      {
        kind: Kind.OPERATION_DEFINITION,
        operation: type === "query" ? OperationTypeNode.QUERY : OperationTypeNode.MUTATION,
        selectionSet: {
          kind: Kind.SELECTION_SET,
          selections: [
            {
              kind: Kind.FIELD,
              name: { kind: Kind.NAME, value: name },
              arguments: Object.entries(args).map(([argument, value]) => ({
                kind: Kind.ARGUMENT,
                name: { kind: Kind.NAME, value: argument },
                value: toValueNode(value),
              })),
              ...(selection === undefined ? {} : { selectionSet: parseSelection(selection) }),
            },
          ],
        },
      },
    ],
  };
}

/** The literal's AST. Fields that are `undefined` are left out. */
function toValueNode(value: Literal): ValueNode {
  if (value === null) return { kind: Kind.NULL };
  if (value instanceof EnumValue) return { kind: Kind.ENUM, value: value.name };
  if (typeof value === "string") return { kind: Kind.STRING, value };
  if (typeof value === "boolean") return { kind: Kind.BOOLEAN, value };
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new RangeError(`${value} cannot be written as a GraphQL literal`);
    return Number.isSafeInteger(value)
      ? { kind: Kind.INT, value: String(value) }
      : { kind: Kind.FLOAT, value: String(value) };
  }
  return {
    kind: Kind.OBJECT,
    fields: Object.entries(value).flatMap(([field, fieldValue]) =>
      fieldValue === undefined
        ? []
        : [{ kind: Kind.OBJECT_FIELD, name: { kind: Kind.NAME, value: field }, value: toValueNode(fieldValue) }],
    ),
  };
}

function parseSelection(selection: string): SelectionSetNode {
  const [definition, ...others] = parse(`{ ${selection} }`, { noLocation: true }).definitions;
  if (definition?.kind !== Kind.OPERATION_DEFINITION || others.length > 0)
    throw new TypeError("A selection holds fields only");
  return definition.selectionSet;
}

/** The GraphQL interface of one account. */
export interface GraphqlTransport {
  readonly http: Http;
  /** Without the path `/graphql`. */
  readonly graphqlUrl: string;
  readonly apiKey: Secret;
}

const JSON_CONTENT = { "content-type": "application/json" };

/** Sends one operation once. Returns the root field's value; throws the typed error that the answer stands for. */
export async function execute(
  transport: GraphqlTransport,
  operation: string,
  field: RootField,
  attempt: Attempt,
): Promise<unknown> {
  let envelope: Envelope | undefined;
  const client = new GraphQLClient(
    `${transport.graphqlUrl}/graphql?api_key=${encodeURIComponent(transport.apiKey.reveal())}`,
    {
      fetch: async (url, init) => {
        const response = await send(transport.http, {
          name: field.name,
          operation,
          method: "POST",
          address: addressOf(String(url)),
          headers: JSON_CONTENT,
          body: String(init?.body),
          attempt,
        });
        envelope = readEnvelope(response, operation, transport.http.clock.now());
        return new Response(null, { status: response.status, headers: JSON_CONTENT });
      },
      // What was read above with better errors is not read again.
      jsonSerializer: { stringify: JSON.stringify, parse: () => envelope },
    },
  );
  try {
    const data = await client.request<Record<string, unknown> | null | undefined>(toDocument(field));
    const value = data?.[field.name];
    if (value === undefined) throw unexpectedResponse(operation, `no data.${field.name}`, { data });
    return value;
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    // With a 400 they say what is wrong with the document.
    const { status, errors = [] } = error.response;
    throw errorFromGraphql(errors, operation, status !== 400);
  }
}

/** What a GraphQL server answers: `data`, `errors`, or both. */
const envelopeSchema = z.looseObject({
  data: z.looseObject({}).nullish(),
  errors: z.array(z.looseObject({ message: z.string() })).nullish(),
});

type Envelope = Pick<z.infer<typeof envelopeSchema>, "data" | "errors">;

/** The HTTP status decides first; only a 200, and a 400 that carries GraphQL errors, is GraphQL's to read. */
function readEnvelope(response: HttpResponse, operation: string, now: number): Envelope {
  const reasons = response.status === 400 ? errorsIn(response.body) : undefined;
  if (reasons) return { errors: reasons };
  const body = decodeJson(response, operation, now);
  const envelope = envelopeSchema.safeParse(body);
  if (!envelope.success) throw unexpectedResponse(operation, "neither data nor errors of GraphQL", body);
  const { data = null, errors } = envelope.data;
  // `errors: null` is no error, yet graphql-request refuses it.
  return errors?.length ? { errors: errors.map(essentials) } : { data };
}

/** Only what the typed error is made from: graphql-request writes all of it into a message, however deep it is. */
function essentials({ message, extensions }: { readonly message: string; readonly extensions?: unknown }) {
  const code =
    typeof extensions === "object" && extensions !== null && "code" in extensions ? extensions.code : undefined;
  return typeof code === "string" ? { message, extensions: { code } } : { message };
}

function errorsIn(body: string): Envelope["errors"] {
  try {
    const { errors } = envelopeSchema.parse(JSON.parse(body));
    return errors?.length ? errors.map(essentials) : undefined;
  } catch {
    return undefined;
  }
}

/** Absent, in the words that services use for it. */
const ABSENT = /not found|does not exist|could not find/i;

/**
 * The typed error of an `errors` list: with status 200 a rule of the business, with 400 a refused request. Codes decide
 * before texts, and no whole text is ever compared.
 */
function errorFromGraphql(
  errors: readonly { readonly message?: string; readonly extensions?: { readonly code?: unknown } }[],
  operation: string,
  isRuleOfBusiness: boolean,
): ServerlessGpuError {
  const message = errors.map((error) => error.message ?? "an error without a message").join("; ");
  const codes = errors.map((error) => error.extensions?.code);
  const said = `${operation}: the service says "${message}"`;
  // What is quoted is somebody's own text, such as an endpoint's name.
  const ownWords = message.replace(/"[^"]*"|'[^']*'|`[^`]*`/g, "");
  if (/unauthorized|unauthenticated|forbidden/i.test(`${codes.join(" ")} ${ownWords}`)) {
    return new AuthenticationError(`${said}. Check that the API key is right and has permission`);
  }
  if (codes.includes("INTERNAL_SERVER_ERROR")) return new ServiceFaultError(`${said}. Try again later`);
  if (ABSENT.test(ownWords)) return new NotFoundError(`${said}. It does not exist, or not in this account`);
  if (/quota/i.test(ownWords)) {
    return new QuotaExceededError(
      `${said}. workersMax counts against one quota for the whole account: lower the workersMax of this or another ` +
        "endpoint, or have the quota raised",
    );
  }
  return isRuleOfBusiness ? new BusinessRuleError(said) : new RejectedError(said);
}
