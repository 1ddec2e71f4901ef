import type * as pulumi from "@pulumi/pulumi";
import type { ServerlessDiscount } from "../../sdk/endpoints/record";
import { type DataSource, type DataSourceContext, type InvokeOutputOptions, invoke, invokeOutput } from "./invoke";

const DISCOUNT: DataSource<object, ServerlessDiscount | null> = {
  name: "getServerlessDiscount",
  find: findDiscount,
  fromMock: (mocked) => (Object.keys(mocked).length > 0 ? (mocked as unknown as ServerlessDiscount) : null),
};

/**
 * Returns the account's discount on serverless prices; `null` if it has none.
 * @throws AuthenticationError if the service does not accept the key
 */
export function getServerlessDiscount(): Promise<ServerlessDiscount | null> {
  return invoke(DISCOUNT, {});
}

/** Does the same as `getServerlessDiscount`, as an output. The option `provider` selects another account. */
export function getServerlessDiscountOutput(options?: InvokeOutputOptions): pulumi.Output<ServerlessDiscount | null> {
  return invokeOutput(DISCOUNT, {}, options);
}

function findDiscount({ client }: DataSourceContext): Promise<ServerlessDiscount | null> {
  return client.endpoints.getServerlessDiscount();
}
