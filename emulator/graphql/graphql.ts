import {
  buildSchema,
  type DocumentNode,
  executeSync,
  type FieldNode,
  GraphQLError,
  type GraphQLFormattedError,
  Kind,
  NoSchemaIntrospectionCustomRule,
  specifiedRules,
  validate,
  valueFromASTUntyped,
} from "graphql";
import { LIST_CAP } from "../../sdk/contract/limits";
import { accessOf, bearerKey, type Keys } from "../io/auth";
import { type Call, type CallOptions, type HttpRequest, type HttpResponse, json } from "../io/http";
import { BusinessError } from "../model/businessError";
import type { FidelityId, Profile } from "../model/fidelity";
import { type Document, malformed, readDocument } from "./document";
import type { GraphqlCall, GraphqlPart } from "./part";

export interface GraphqlOptions {
  readonly profile: Profile;
  readonly keys: Keys;
  readonly parts: readonly GraphqlPart[];
}

/** Creates the GraphQL API, a function that turns a request to `/graphql` into a call. */
export function createGraphql({ profile, keys, parts }: GraphqlOptions) {
  const schema = buildSchema(
    ["type Query { myself: Account } type Mutation type Account scalar Void", ...parts.map((part) => part.schema)].join(
      "\n",
    ),
  );
  // The observed service has introspection turned off.
  const rules = profile === "observed" ? [...specifiedRules, NoSchemaIntrospectionCustomRule] : specifiedRules;
  /** The documents that have passed validation. */
  const valid = new WeakSet<DocumentNode>();
  const operations = parts.flatMap((part) => Object.entries(part.operations ?? {}));
  const fieldsOfMyself = parts.flatMap((part) => Object.entries(part.myself ?? {}));
  const publicOperations = parts.flatMap((part) => part.publicOperations ?? []);
  const singleReads = parts.flatMap((part) => Object.entries(part.single ?? {}));
  const shown = (list: unknown) => (profile === "observed" && Array.isArray(list) ? list.slice(0, LIST_CAP) : list);

  const root = (call: GraphqlCall) => ({
    myself: {
      ...Object.fromEntries(fieldsOfMyself.map(([name, read]) => [name, () => shown(read(call))])),
      ...Object.fromEntries(singleReads.map(([name, read]) => [name, (args: never) => read(args, call)])),
    },
    ...Object.fromEntries(operations.map(([name, run]) => [name, (args: never) => run(args, call)])),
  });

  function execute({ query, variables, operationName }: Document, options: CallOptions): HttpResponse {
    const problems = valid.has(query) ? [] : validate(schema, query, rules);
    if (problems.length > 0) return refusal("GRAPHQL_VALIDATION_FAILED", problems, "graphql.validation");
    valid.add(query);
    let endpointId: string | undefined;
    const { errors, data } = executeSync({
      schema,
      document: query,
      rootValue: root({
        ...options,
        onEndpoint(id) {
          endpointId = id;
        },
      }),
      variableValues: variables,
      operationName,
    });
    if (!errors) return { ...json(200, { data }), endpointId };
    // No data means that nothing was executed, because the variables or the operation name are
    // invalid.
    if (data === undefined) return refusal("GRAPHQL_VALIDATION_FAILED", errors, "graphql.variables");
    const shownErrors = errors.map(withCode);
    const first = errors[0]?.originalError;
    const fidelity = first instanceof BusinessError ? first.fidelity : undefined;
    return { ...json(200, { errors: shownErrors, data }, fidelity), error: shownErrors[0]?.message };
  }

  function denied(request: HttpRequest, document: Document | GraphQLError): HttpResponse | undefined {
    const key = request.query.get("api_key") ?? (profile === "observed" ? bearerKey(request) : undefined);
    const access = accessOf(key ?? undefined, keys);
    if (access === "granted" || (access === "missing" && isPublic(document))) return undefined;
    if (profile === "contract" || access === "wrong") return unauthorized();
    const isQuery = !(document instanceof GraphQLError) && document.operation.operation === "query";
    if (access === "missing" && isQuery) return { ...json(200, { data: { myself: null } }), error: "Unauthorized" };
    const errors = [{ message: "Unauthorized" }];
    const fidelity = isQuery ? undefined : "graphql.no-key-mutation";
    return { ...json(200, { errors, data: isQuery ? { myself: null } : null }, fidelity), error: "Unauthorized" };
  }

  function isPublic(document: Document | GraphQLError): boolean {
    if (document instanceof GraphQLError) return false;
    const fields = document.operation.selectionSet.selections;
    return fields.every((node) => node.kind === Kind.FIELD && publicOperations.includes(node.name.value));
  }

  return function graphqlCall(request: HttpRequest): Call {
    const document = request.method === "POST" ? readDocument(request) : malformed("Use POST", "BAD_REQUEST");
    return {
      interface: "graphql",
      ...described(document, parts),
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

/**
 * Adds the service's code to an error: one code for a violated rule, another for all other errors
 * (observed).
 */
function withCode({ message, locations, path, originalError }: GraphQLError): GraphQLFormattedError {
  const isExplained = originalError instanceof BusinessError && !originalError.isUnexplained;
  if (isExplained) return { message, locations, path, extensions: { code: "RUNPOD" } };
  const apology = "Something went wrong. Please try again later or contact support.";
  return { message: apology, path, extensions: { code: "INTERNAL_SERVER_ERROR" } };
}

/** Returns a document's first field and its arguments as written, for the journal. */
function described(
  document: Document | GraphQLError,
  parts: readonly GraphqlPart[],
): Pick<Call, "operation" | "endpointId" | "arguments"> {
  const field =
    document instanceof GraphQLError
      ? undefined
      : document.operation.selectionSet.selections.find((node): node is FieldNode => node.kind === Kind.FIELD);
  if (!field || document instanceof GraphQLError) return { operation: "unknown", arguments: {} };
  const given: Record<string, unknown> = {};
  for (const { name, value } of field.arguments ?? [])
    given[name.value] = valueFromASTUntyped(value, document.variables);
  const args = JSON.parse(JSON.stringify(given)) as Record<string, unknown>;
  const operation = field.name.value;
  const id = parts.map((part) => part.endpointIdOf?.(operation, args)).find((id) => typeof id === "string");
  return { operation, arguments: args, endpointId: id as string | undefined };
}
