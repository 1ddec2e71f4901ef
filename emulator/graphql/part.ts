import type { CallOptions } from "../io/http";

/** One execution of a GraphQL document. */
export interface GraphqlCall extends CallOptions {
  /** Must be called with the id of an endpoint that was created or changed, for the journal. */
  onEndpoint(id: string): void;
}

/** Resolvers, by field name. */
type Resolvers = Readonly<Record<string, (args: never, call: GraphqlCall) => unknown>>;

/** The part of the GraphQL API for one kind of record. */
export interface GraphqlPart {
  /** Types, and extensions of `Query`, `Mutation` and `Account` (`myself`). */
  readonly schema: string;
  /** The fields of `Query` and `Mutation`. */
  readonly operations?: Resolvers;
  /** The fields of `Query` that need no key. @default none */
  readonly publicOperations?: readonly string[];
  /** The lists in `myself`. */
  readonly myself?: Readonly<Record<string, (call: GraphqlCall) => unknown>>;
  /** Other fields of `myself`, which take arguments. */
  readonly single?: Resolvers;
  /**
   * Returns the id of the endpoint that an operation refers to, if this part handles the operation.
   */
  endpointIdOf?(operation: string, args: Readonly<Record<string, unknown>>): unknown;
}
