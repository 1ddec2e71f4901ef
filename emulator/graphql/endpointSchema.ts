import { ENDPOINT_FIELDS } from "../model/endpointFields";
import type { Profile } from "../model/fidelity";
import { graphqlFields } from "../model/fieldTable";

/** Returns the GraphQL types and operations for endpoints. */
export function endpointSchema(profile: Profile): string {
  const isObserved = profile === "observed";
  return `
    extend type Mutation {
      saveEndpoint(input: EndpointInput!): Endpoint!
      deleteEndpoint(id: String!): Void
      ${isObserved ? "updateEndpointTemplate(input: UpdateEndpointTemplateInput): Endpoint" : ""}
    }
    extend type Account { endpoints: [Endpoint!]! ${isObserved ? "endpoint(id: String!): Endpoint" : ""} }
    enum FlashBootType { FLASHBOOT ${isObserved ? "OFF PRIORITY_FLASHBOOT" : ""} }
    type Pod { ${isObserved ? "id: String! slsVersion: Int" : ""} desiredStatus: String }
    type Endpoint {
      id: String! ${graphqlFields(ENDPOINT_FIELDS, "output", profile)} ${isObserved ? OUTPUT : ""} pods: [Pod!]!
    }
    input EndpointInput { id: String ${graphqlFields(ENDPOINT_FIELDS, "input", profile)} ${isObserved ? INPUT : ""} }
    ${isObserved ? TYPES : ""}
  `;
}

/** The fields that GraphQL shows in addition to an endpoint's own. `computeType` cannot be set. */
const OUTPUT = `
  computeType: ComputeType template: PodTemplate networkVolume: NetworkVolume version: Int createdAt: String
  userId: String aiKey: String hubRelease: HubRelease activeBuildid: String idePodId: String
`;

/** The inputs that a save accepts in addition to the fields. */
const INPUT = `
  template: EndpointTemplateInput bindEndpoint: Boolean = true dataCenterIds: [String] requestTTL: Int
  cloudStorageConfig: CloudStorageConfigInput
`;

const COMPLIANCE =
  "GDPR ISO_IEC_27001 ISO_14001 PCI_DSS HITRUST SOC_1_TYPE_2 SOC_2_TYPE_2 SOC_3_TYPE_2 ITAR FISMA_HIGH HIPAA";
const TYPES = `
  enum ComputeType { CPU GPU }
  type EndpointVolume { networkVolumeId: String dataCenterId: String }
  input EndpointVolumeInput { networkVolumeId: String! }
  type EndpointRepo { repoName: String }
  input EndpointRepoInput {
    repoName: String! branch: String dockerFilePath: String buildContext: String dockerArgs: String
    containerRegistryAuthId: String
  }
  input CloudStorageConfigInput {
    provider: String! region: String! bucketName: String! accessKey: String! secretKey: String!
  }
  type HubRelease { id: String }
  enum Compliance { ${COMPLIANCE} }
  input UpdateEndpointTemplateInput { templateId: String! endpointId: String! }
`;
