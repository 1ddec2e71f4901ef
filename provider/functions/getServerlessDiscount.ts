import type * as pulumi from "@pulumi/pulumi";
import type { ServerlessDiscount } from "../../sdk/endpoints/record";
import { type LookUp, type LookUpContext, type LookUpOptions, lookUp, lookUpOutput } from "./invoke";

const DISCOUNT: LookUp<object, ServerlessDiscount | null> = {
  name: "getServerlessDiscount",
  find: findDiscount,
  fromMock: (mocked) => (Object.keys(mocked).length > 0 ? (mocked as unknown as ServerlessDiscount) : null),
};

/** The account's discount on serverless prices, or `null` (contract, Serverless endpoint). */
export function getServerlessDiscount(): Promise<ServerlessDiscount | null> {
  return lookUp(DISCOUNT, {});
}

/** `getServerlessDiscount` as an output, of another account if need be. */
export function getServerlessDiscountOutput(options?: LookUpOptions): pulumi.Output<ServerlessDiscount | null> {
  return lookUpOutput(DISCOUNT, {}, options);
}

function findDiscount({ client }: LookUpContext): Promise<ServerlessDiscount | null> {
  return client.endpoints.getServerlessDiscount();
}
