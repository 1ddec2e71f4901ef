import type { CallOptions } from "../io/http";

/** One execution of a GraphQL document. */
export interface GraphqlCall extends CallOptions {
  /** Must be called with the id of an endpoint that was created or changed, for the journal. */
  onEndpoint(id: string): void;
}

/** Resolvers by the name of their field. */
type Resolvers = Readonly<Record<string, (args: never, call: GraphqlCall) => unknown>>;

/** One kind of record's part of the GraphQL interface. */
export interface GraphqlPart {
  /** Types, and extensions of `Query`, `Mutation` and `Account` (`myself`). */
  readonly schema: string;
  /** The fields of `Query` and of `Mutation`. */
  readonly operations?: Resolvers;
  /** The fields of `Query` that need no key. @default none */
  readonly publicOperations?: readonly string[];
  /** The lists of `myself`. */
  readonly myself?: Readonly<Record<string, (call: GraphqlCall) => unknown>>;
  /** The other fields of `myself`, with arguments. */
  readonly single?: Resolvers;
  /**
   * Returns the id of the endpoint that an operation names, if the operation belongs to this part.
   */
  endpointIdOf?(operation: string, args: Readonly<Record<string, unknown>>): unknown;
}
