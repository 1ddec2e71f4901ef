import type * as pulumi from "@pulumi/pulumi";
import type { ServerlessDiscount } from "../sdk/endpointRecord";
import { type LookUpContext, type LookUpOptions, lookUp, lookUpOutput } from "./lookUp";

/** The account's discount on serverless prices, or `null` (contract, Serverless endpoint). */
export function getServerlessDiscount(): Promise<ServerlessDiscount | null> {
  return lookUp(findDiscount, {});
}

/** `getServerlessDiscount` as an output, of another account if need be. */
export function getServerlessDiscountOutput(options?: LookUpOptions): pulumi.Output<ServerlessDiscount | null> {
  return lookUpOutput(findDiscount, {}, options);
}

function findDiscount({ client }: LookUpContext): Promise<ServerlessDiscount | null> {
  return client.endpoints.getServerlessDiscount();
}
