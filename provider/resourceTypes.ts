import { CONTAINER_FIELDS } from "../sdk/containers/fields";
import { ENDPOINT_FIELDS, FIELDS } from "../sdk/endpoints/fields";
import { type FieldTable, NEVER_CHANGES } from "../sdk/records/fields";
import { REGISTRY_AUTH_FIELDS } from "../sdk/registryAuths/registryAuth";
import { SECRET_FIELDS } from "../sdk/secrets/secret";
import { TEMPLATE_FIELDS } from "../sdk/templates/template";
import { VOLUME_FIELDS } from "../sdk/volumes/volume";

/** A type of resource, as state records it. */
export interface ResourceType {
  /** The type in state and in URNs. */
  readonly type: string;
  /**
   * The code under `__provider`. It is permanent: every version of this package must support it,
   * because the engine runs the code that state holds.
   */
  readonly provider: string;
  /** Names of all outputs. */
  readonly outputs: readonly string[];
  /** Names of the outputs that only some resources have. @default none */
  readonly optionalOutputs?: readonly string[];
  /** Names of the inputs that are secret in every program. @default none */
  readonly secrets?: readonly string[];
  /** Names of the inputs whose change always replaces the resource. @default none */
  readonly fixed?: readonly string[];
}

/** Returns the names of the fields that the service never changes. */
function fixedFields(table: FieldTable): readonly string[] {
  return Object.keys(table).filter((name) => table[name]?.isFixed === NEVER_CHANGES.isFixed);
}

/** The settings of an endpoint that few programs use. Their outputs are absent while unset. */
export const RARE_SETTINGS = [
  ...CONTAINER_FIELDS,
  "allowedCudaVersions",
  "executionTimeoutMs",
  "instanceIds",
  "minCudaVersion",
  "modelReferences",
  "networkVolumeId",
  "networkVolumeIds",
] as const;

export const SERVERLESS_ENDPOINT = {
  type: "pulumi-nodejs:dynamic/serverless-gpu:ServerlessEndpoint",
  provider: 'exports.handler = () => require("pulumi-serverless-gpu/handlers").v1;',
  outputs: [...ENDPOINT_FIELDS, "queueUrl", "url"],
  optionalOutputs: [...RARE_SETTINGS, "url"],
  fixed: fixedFields(FIELDS),
} as const satisfies ResourceType;

export const SERVERLESS_TEMPLATE: ResourceType = {
  type: "pulumi-nodejs:dynamic/serverless-gpu:ServerlessTemplate",
  provider: 'exports.handler = () => require("pulumi-serverless-gpu/handlers").templateV1;',
  outputs: [...Object.keys(TEMPLATE_FIELDS), "revision"],
};

export const NETWORK_VOLUME: ResourceType = {
  type: "pulumi-nodejs:dynamic/serverless-gpu:NetworkVolume",
  provider: 'exports.handler = () => require("pulumi-serverless-gpu/handlers").networkVolumeV1;',
  outputs: [...Object.keys(VOLUME_FIELDS), "storageType"],
  fixed: fixedFields(VOLUME_FIELDS),
};

export const CONTAINER_REGISTRY_AUTH: ResourceType = {
  type: "pulumi-nodejs:dynamic/serverless-gpu:ContainerRegistryAuth",
  provider: 'exports.handler = () => require("pulumi-serverless-gpu/handlers").registryAuthV1;',
  outputs: Object.keys(REGISTRY_AUTH_FIELDS),
  secrets: ["username", "password"],
  fixed: fixedFields(REGISTRY_AUTH_FIELDS),
};

export const SECRET: ResourceType = {
  type: "pulumi-nodejs:dynamic/serverless-gpu:Secret",
  provider: 'exports.handler = () => require("pulumi-serverless-gpu/handlers").secretV1;',
  outputs: [...Object.keys(SECRET_FIELDS), "reference", "version", "valueLastUpdatedAt"],
  optionalOutputs: ["value"],
  secrets: ["value"],
  fixed: fixedFields(SECRET_FIELDS),
};

export const SMOKE_TEST: ResourceType = {
  type: "pulumi-nodejs:dynamic/serverless-gpu:SmokeTest",
  provider: 'exports.handler = () => require("pulumi-serverless-gpu/handlers").smokeTestV1;',
  outputs: ["jobId", "status", "delayTime", "executionTime"],
};

/** All types of resources of this package. */
export const RESOURCE_TYPES: readonly ResourceType[] = [
  SERVERLESS_ENDPOINT,
  SERVERLESS_TEMPLATE,
  NETWORK_VOLUME,
  CONTAINER_REGISTRY_AUTH,
  SECRET,
  SMOKE_TEST,
];
