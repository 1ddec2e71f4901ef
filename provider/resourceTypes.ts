/** What state says of a kind of resource. */
export interface ResourceType {
  /** The type in state and in URNs. */
  readonly type: string;
  /**
   * The code under `__provider`. It is a permanent contract: every version of this package answers to it, and state that
   * holds another text would keep running that text for ever.
   */
  readonly provider: string;
}

export const SERVERLESS_ENDPOINT: ResourceType = {
  type: "pulumi-nodejs:dynamic/serverless-gpu:ServerlessEndpoint",
  provider: 'exports.handler = () => require("pulumi-serverless-gpu/handlers").v1;',
};

export const SMOKE_TEST: ResourceType = {
  type: "pulumi-nodejs:dynamic/serverless-gpu:SmokeTest",
  provider: 'exports.handler = () => require("pulumi-serverless-gpu/handlers").smokeTestV1;',
};
