import type { GraphqlPart } from "../graphql/part";

/** The discount of the account (contract, Serverless endpoint). */
export interface ServerlessDiscount {
  /** The size of the discount. The contract does not show its unit. */
  readonly discountFactor: number;
  /** The kind of discount. */
  readonly type: string;
  /** The end of the discount, as a UTC timestamp. */
  readonly expirationDate: string;
}

/** Creates the part of the GraphQL interface for the discount. */
export function discountPart(serverlessDiscount: ServerlessDiscount | null): GraphqlPart {
  return {
    schema: `
      extend type Account { serverlessDiscount: ServerlessDiscount }
      type ServerlessDiscount { discountFactor: Float type: String expirationDate: String }
    `,
    myself: { serverlessDiscount: () => serverlessDiscount },
  };
}
