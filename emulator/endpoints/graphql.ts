import {
  buildSchema,
  type DocumentNode,
  executeSync,
  type FieldNode,
  GraphQLError,
  type GraphQLFormattedError,
  Kind,
  type OperationDefinitionNode,
  parse,
  specifiedRules,
  validate,
  valueFromASTUntyped,
} from "graphql";
import { accessOf, bearerKey, type Keys } from "../io/auth";
import { type Call, type CallOptions, type HttpRequest, type HttpResponse, json } from "../io/http";
import { type EndpointInput, graphqlFields } from "../model/endpointFields";
import type { FidelityId, Profile } from "../model/fidelity";
import { BusinessError, shown } from "./endpointRules";
import type { Endpoints } from "./endpoints";

/** The discount of the account (contract, Serverless endpoint). */
export interface ServerlessDiscount {
  /** The size of the discount. The contract does not show its unit. */
  readonly discountFactor: number;
  /** The kind of discount. */
  readonly type: string;
  /** The end of the discount, as a UTC timestamp. */
  readonly expirationDate: string;
}

export interface GraphqlOptions {
  readonly profile: Profile;
  readonly keys: Keys;
  readonly endpoints: Endpoints;
  readonly serverlessDiscount: ServerlessDiscount | null;
}

/** The body of a request. In the contract it has only `query`. */
interface Document {
  readonly query: DocumentNode;
  readonly variables: Record<string, unknown>;
  readonly operationName: string | undefined;
  readonly operation: OperationDefinitionNode;
}

function schemaOf(profile: Profile) {
  return buildSchema(`
    type Query { myself: Account }
    type Mutation {
      saveEndpoint(input: EndpointInput!): Endpoint!
      deleteEndpoint(id: String!): Void
    }
    scalar Void
    enum FlashBootType { FLASHBOOT ${profile === "observed" ? "OFF" : ""} }
    type Account { endpoints: [Endpoint!]! serverlessDiscount: ServerlessDiscount }
    type ServerlessDiscount { discountFactor: Float type: String expirationDate: String }
    type Pod { desiredStatus: String }
    type Endpoint { id: String! ${graphqlFields("output", profile)} pods: [Pod!]! }
    input EndpointInput { id: String ${graphqlFields("input", profile)} }
  `);
}

/** Creates the GraphQL interface: a function that returns the call of a request to `/graphql`. */
export function createGraphql({ profile, keys, endpoints, serverlessDiscount }: GraphqlOptions) {
  const schema = schemaOf(profile);

  const root = (options: CallOptions, onSaved: (id: string) => void) => ({
    myself: () => ({
      endpoints: endpoints.list(options.listLagMs).map(({ record, pods }) => ({ ...shown(record, profile), pods })),
      serverlessDiscount,
    }),
    saveEndpoint: ({ input }: { input: EndpointInput }) => {
      const { record, runtime } = endpoints.save(input);
      onSaved(record.id);
      return { ...shown(record, profile), pods: runtime.pods() };
    },
    deleteEndpoint: ({ id }: { id: string }) => {
      endpoints.delete(id);
      return null;
    },
  });

  function execute({ query, variables, operationName }: Document, options: CallOptions): HttpResponse {
    const problems = validate(schema, query, specifiedRules);
    if (problems.length > 0) return refusal("GRAPHQL_VALIDATION_FAILED", problems, "graphql.validation");
    let endpointId: string | undefined;
    const { errors, data } = executeSync({
      schema,
      document: query,
      rootValue: root(options, (id) => {
        endpointId = id;
      }),
      variableValues: variables,
      operationName,
    });
    if (!errors) return { ...json(200, { data }), endpointId };
    // Without data nothing was executed: the variables or the operation name are invalid.
    if (data === undefined) return refusal("GRAPHQL_VALIDATION_FAILED", errors, "graphql.variables");
    const shownErrors = errors.map(withCode);
    const first = errors[0]?.originalError;
    const fidelity = first instanceof BusinessError ? first.fidelity : undefined;
    return { ...json(200, { errors: shownErrors, data }, fidelity), error: shownErrors[0]?.message };
  }

  function denied(request: HttpRequest, document: Document | GraphQLError): HttpResponse | undefined {
    const key = request.query.get("api_key") ?? (profile === "observed" ? bearerKey(request) : undefined);
    const access = accessOf(key ?? undefined, keys);
    if (access === "granted") return undefined;
    if (profile === "contract" || access === "wrong") return unauthorized();
    const isQuery = !(document instanceof GraphQLError) && document.operation.operation === "query";
    if (access === "missing" && isQuery) return { ...json(200, { data: { myself: null } }), error: "Unauthorized" };
    const errors = [{ message: "Unauthorized" }];
    const fidelity = isQuery ? undefined : "graphql.no-key-mutation";
    return { ...json(200, { errors, data: isQuery ? { myself: null } : null }, fidelity), error: "Unauthorized" };
  }

  return function graphqlCall(request: HttpRequest): Call {
    const document = request.method === "POST" ? readDocument(request) : malformed("Use POST", "BAD_REQUEST");
    return {
      interface: "graphql",
      ...described(document),
      run(options) {
        if (request.method !== "POST") return json(405, { errors: [{ message: "Use POST" }] }, "graphql.post-only");
        const refused = denied(request, document);
        if (refused) return refused;
        if (!(document instanceof GraphQLError)) return execute(document, options);
        return refusal(document.extensions.code as string, [document], "graphql.malformed");
      },
    };
  };
}

function unauthorized(): HttpResponse {
  return json(401, { errors: [{ message: "Unauthorized" }] }, "graphql.unauthorized-body");
}

function refusal(code: string, problems: readonly GraphQLError[], fidelity: FidelityId): HttpResponse {
  const errors = problems.map((problem) => ({ ...problem.toJSON(), extensions: { code } }));
  return { ...json(400, { errors }, fidelity), error: errors[0]?.message };
}

/** Returns an error with the code of the service: one for a broken rule, one for any other error (observed). */
function withCode({ message, locations, path, originalError }: GraphQLError): GraphQLFormattedError {
  if (originalError instanceof BusinessError) return { message, locations, path, extensions: { code: "RUNPOD" } };
  const apology = "Something went wrong. Please try again later or contact support.";
  return { message: apology, path, extensions: { code: "INTERNAL_SERVER_ERROR" } };
}

function malformed(message: string, code: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}

function readDocument(request: HttpRequest): Document | GraphQLError {
  if (!/^application\/json\b/i.test(request.headers["content-type"] ?? "")) {
    return malformed("The content-type must be application/json", "BAD_REQUEST");
  }
  let body: unknown;
  try {
    body = JSON.parse(request.body.toString("utf8"));
  } catch {
    return malformed("The body is not JSON", "BAD_REQUEST");
  }
  const { query, variables, operationName } = (body ?? {}) as Record<string, unknown>;
  if (typeof query !== "string")
    return malformed("The field query of the body must be a GraphQL document", "BAD_REQUEST");
  try {
    const document = parse(query, { maxTokens: 20_000 });
    const name = typeof operationName === "string" ? operationName : undefined;
    const operation = document.definitions.find(
      (definition): definition is OperationDefinitionNode =>
        definition.kind === Kind.OPERATION_DEFINITION && (name === undefined || definition.name?.value === name),
    );
    if (!operation) return malformed("The query contains no operation", "BAD_REQUEST");
    return {
      query: document,
      operation,
      operationName: name,
      variables: isObject(variables) ? variables : {},
    };
  } catch (error) {
    if (error instanceof GraphQLError) return malformed(error.message, "GRAPHQL_PARSE_FAILED");
    throw error;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the first field of a document and its arguments as written, for the journal. */
function described(document: Document | GraphQLError): Pick<Call, "operation" | "endpointId" | "arguments"> {
  const field =
    document instanceof GraphQLError
      ? undefined
      : document.operation.selectionSet.selections.find((node): node is FieldNode => node.kind === Kind.FIELD);
  if (!field || document instanceof GraphQLError) return { operation: "unknown", arguments: {} };
  const given: Record<string, unknown> = {};
  for (const { name, value } of field.arguments ?? [])
    given[name.value] = valueFromASTUntyped(value, document.variables);
  const args = JSON.parse(JSON.stringify(given)) as Record<string, unknown>;
  const id = isObject(args.input) ? args.input.id : args.id;
  return { operation: field.name.value, arguments: args, endpointId: typeof id === "string" ? id : undefined };
}
