import type * as pulumi from "@pulumi/pulumi";
import type { ServerlessDiscount } from "../../sdk/endpoints/record";
import { type CalledSource, type InvokeOutputOptions, invoke, invokeOutput } from "./invoke";
import { DISCOUNT } from "./sources";

const ACCOUNT_DISCOUNT: CalledSource<object, ServerlessDiscount | null> = {
  ...DISCOUNT,
  fromMock: (mocked) => (Object.keys(mocked).length > 0 ? (mocked as unknown as ServerlessDiscount) : null),
};

/**
 * Returns the account's discount on serverless prices; `null` if it has none.
 * @throws AuthenticationError if the service does not accept the key
 */
export function getServerlessDiscount(): Promise<ServerlessDiscount | null> {
  return invoke(ACCOUNT_DISCOUNT, {});
}

/** Does the same as `getServerlessDiscount`, as an output. The option `provider` selects another account. */
export function getServerlessDiscountOutput(options?: InvokeOutputOptions): pulumi.Output<ServerlessDiscount | null> {
  return invokeOutput(ACCOUNT_DISCOUNT, {}, options);
}
