/** A type of resource, as state records it. */
export interface ResourceType {
  /** The type in state and in URNs. */
  readonly type: string;
  /**
   * The code under `__provider`. It is permanent: every version of this package must support it, because the engine runs
   * the code that state holds.
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
