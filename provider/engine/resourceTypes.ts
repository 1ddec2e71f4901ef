import { CONTAINER_FIELDS } from "../../sdk/containers/fields";
import { ENDPOINT_FIELDS, FIELDS } from "../../sdk/endpoints/fields";
import { type FieldTable, NEVER_CHANGES } from "../../sdk/records/fields";
import { kindOf } from "../../sdk/records/kind";
import type { Kind } from "../../sdk/records/listed";
import { REGISTRY_AUTH, REGISTRY_AUTH_FIELDS } from "../../sdk/registryAuths/registryAuth";
import { SECRET, SECRET_FIELDS } from "../../sdk/secrets/secret";
import { TEMPLATE, TEMPLATE_FIELDS } from "../../sdk/templates/template";
import { VOLUME, VOLUME_FIELDS } from "../../sdk/volumes/volume";

/** A type of resource, as recorded in state. */
export interface ResourceType {
  /** The type as it appears in state and in URNs. */
  readonly type: string;
  /**
   * The code stored under `__provider`. It must never change, and every version of this package
   * must support it, because the engine runs the code that is stored in state.
   */
  readonly provider: string;
  /** The names of all outputs. */
  readonly outputs: readonly string[];
  /** The names of outputs that only some resources have. @default none */
  readonly optionalOutputs?: readonly string[];
  /** The names of inputs that are secret in every program. @default none */
  readonly secrets?: readonly string[];
  /** The names of inputs whose change always replaces the resource. @default none */
  readonly fixed?: readonly string[];
}

/** A type of resource that manages one record. */
export interface RecordType extends ResourceType, Pick<Kind, "noun" | "one"> {
  /** Name of the handlers in handlers.ts. */
  readonly handlers: string;
}

/**
 * Endpoint settings that few programs use. Their outputs are omitted while the settings are unset.
 */
export const RARE_SETTINGS = [
  ...CONTAINER_FIELDS,
  "allowedCudaVersions",
  "executionTimeoutMs",
  "instanceIds",
  "minCudaVersion",
  "modelReferences",
  "networkVolumeId",
  "networkVolumeIds",
  "workersStandby",
] as const;

/**
 * Returns the type of a resource that manages one record.
 * @param name name of the class
 * @param handlers name of the handlers in handlers.ts
 * @param furtherOutputs names of the outputs that are not fields
 */
function recordType<Handlers extends string>(
  name: string,
  handlers: Handlers,
  { noun, one }: Pick<Kind, "noun" | "one">,
  table: FieldTable,
  furtherOutputs: readonly string[] = [],
): RecordType & { readonly handlers: Handlers } {
  return {
    handlers,
    noun,
    one,
    type: `pulumi-nodejs:dynamic/serverless-gpu:${name}`,
    provider: `exports.handler = () => require("pulumi-serverless-gpu/handlers").${handlers};`,
    outputs: [...Object.keys(table), ...furtherOutputs],
    fixed: Object.keys(table).filter((field) => table[field]?.isFixed === NEVER_CHANGES.isFixed),
  };
}

const ENDPOINT_OUTPUTS = [...ENDPOINT_FIELDS, "queueUrl", "url"] as const;

export const SERVERLESS_ENDPOINT = {
  ...recordType("ServerlessEndpoint", "v1", kindOf("endpoint", {}), FIELDS),
  outputs: ENDPOINT_OUTPUTS,
  optionalOutputs: [...RARE_SETTINGS, "url"],
} as const satisfies ResourceType;

export const SMOKE_TEST: ResourceType = {
  type: "pulumi-nodejs:dynamic/serverless-gpu:SmokeTest",
  provider: 'exports.handler = () => require("pulumi-serverless-gpu/handlers").smokeTestV1;',
  outputs: ["jobId", "status", "delayTime", "executionTime"],
};

/** The resources that manage records, by the names of their classes. */
export const RECORD_TYPES = {
  ServerlessEndpoint: SERVERLESS_ENDPOINT,
  ServerlessTemplate: recordType("ServerlessTemplate", "templateV1", TEMPLATE, TEMPLATE_FIELDS, ["revision"]),
  NetworkVolume: {
    ...recordType("NetworkVolume", "networkVolumeV1", VOLUME, VOLUME_FIELDS, ["storageType"]),
    // A change of these fields is refused, because a replacement would lose the data.
    fixed: [],
  },
  ContainerRegistryAuth: {
    ...recordType("ContainerRegistryAuth", "registryAuthV1", REGISTRY_AUTH, REGISTRY_AUTH_FIELDS),
    secrets: ["username", "password"],
  },
  Secret: {
    ...recordType("Secret", "secretV1", SECRET, SECRET_FIELDS, ["reference", "version", "valueLastUpdatedAt"]),
    optionalOutputs: ["value"],
    secrets: ["value"],
  },
} as const satisfies Readonly<Record<string, RecordType>>;

/** The name of the class of a resource that manages one record. */
export type RecordClass = keyof typeof RECORD_TYPES;

/** All resource types of this package. */
export const RESOURCE_TYPES: readonly ResourceType[] = [...Object.values(RECORD_TYPES), SMOKE_TEST];
