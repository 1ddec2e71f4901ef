import { type DocumentNode, GraphQLError, Kind, Lexer, type OperationDefinitionNode, parse, Source } from "graphql";
import { MAX_DEPTH, TOO_DEEP } from "../io/depth";
import type { HttpRequest } from "../io/http";

/** The body of a request. In the contract it contains only `query`. */
export interface Document {
  readonly query: DocumentNode;
  readonly variables: Record<string, unknown>;
  readonly operationName: string | undefined;
  readonly operation: OperationDefinitionNode;
}

const MAX_TOKENS = 20_000;

/** The latest queries that were parsed, by their text, because clients repeat them. */
const parsed = new Map<string, DocumentNode>();
/** The total length of these texts. A parsed document takes up to 250 times as much memory. */
let parsedLength = 0;
const MOST_PARSED_LENGTH = 200_000;

/** Returns the error for a request that cannot be executed. */
export function malformed(message: string, code: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}

/** Reads a request's GraphQL document. Returns an error if there is none. */
export function readDocument(request: HttpRequest): Document | GraphQLError {
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
    const document = parsed.get(query) ?? parseNew(query);
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

/** @throws GraphQLError if the query cannot be parsed */
function parseNew(query: string): DocumentNode {
  if (isTooDeep(query)) throw new GraphQLError(`The query ${TOO_DEEP}`);
  const document = parse(query, { maxTokens: MAX_TOKENS });
  if (query.length > MOST_PARSED_LENGTH) return document;
  parsedLength += query.length;
  if (parsedLength > MOST_PARSED_LENGTH) {
    parsed.clear();
    parsedLength = query.length;
  }
  parsed.set(query, document);
  return document;
}

/** Checks a query's nesting depth before parsing, because the parser could overflow the stack. */
function isTooDeep(query: string): boolean {
  if (query.length <= MAX_DEPTH) return false;
  const lexer = new Lexer(new Source(query));
  let depth = 0;
  for (let count = 0; count < MAX_TOKENS; count++) {
    const { kind } = lexer.advance();
    if (/^[[{(]$/.test(kind) && ++depth > MAX_DEPTH) return true;
    if (/^[\]})]$/.test(kind)) depth--;
  }
  return false;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
