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

export const SERVERLESS_TEMPLATE: ResourceType = {
  type: "pulumi-nodejs:dynamic/serverless-gpu:ServerlessTemplate",
  provider: 'exports.handler = () => require("pulumi-serverless-gpu/handlers").templateV1;',
};

export const NETWORK_VOLUME: ResourceType = {
  type: "pulumi-nodejs:dynamic/serverless-gpu:NetworkVolume",
  provider: 'exports.handler = () => require("pulumi-serverless-gpu/handlers").networkVolumeV1;',
};

export const CONTAINER_REGISTRY_AUTH: ResourceType = {
  type: "pulumi-nodejs:dynamic/serverless-gpu:ContainerRegistryAuth",
  provider: 'exports.handler = () => require("pulumi-serverless-gpu/handlers").registryAuthV1;',
};

export const SMOKE_TEST: ResourceType = {
  type: "pulumi-nodejs:dynamic/serverless-gpu:SmokeTest",
  provider: 'exports.handler = () => require("pulumi-serverless-gpu/handlers").smokeTestV1;',
};

/** All types of resources of this package. */
export const RESOURCE_TYPES: readonly ResourceType[] = [
  SERVERLESS_ENDPOINT,
  SERVERLESS_TEMPLATE,
  NETWORK_VOLUME,
  CONTAINER_REGISTRY_AUTH,
  SMOKE_TEST,
];
