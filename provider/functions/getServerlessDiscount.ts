import type * as pulumi from "@pulumi/pulumi";
import type { ServerlessDiscount } from "../../sdk/endpoints/record";
import { type DataSource, type DataSourceContext, type InvokeOutputOptions, invoke, invokeOutput } from "./invoke";

const DISCOUNT: DataSource<object, ServerlessDiscount | null> = {
  name: "getServerlessDiscount",
  find: findDiscount,
  fromMock: (mocked) => (Object.keys(mocked).length > 0 ? (mocked as unknown as ServerlessDiscount) : null),
};

/** The account's discount on serverless prices, or `null` (contract, Serverless endpoint). */
export function getServerlessDiscount(): Promise<ServerlessDiscount | null> {
  return invoke(DISCOUNT, {});
}

/** `getServerlessDiscount` as an output, of another account if need be. */
export function getServerlessDiscountOutput(options?: InvokeOutputOptions): pulumi.Output<ServerlessDiscount | null> {
  return invokeOutput(DISCOUNT, {}, options);
}

function findDiscount({ client }: DataSourceContext): Promise<ServerlessDiscount | null> {
  return client.endpoints.getServerlessDiscount();
}
