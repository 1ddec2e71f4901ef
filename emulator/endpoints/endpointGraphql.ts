import type { GraphqlPart } from "../graphql/part";
import type { CallOptions } from "../io/http";
import { BusinessError } from "../model/businessError";
import { ENDPOINT_FIELDS, type EndpointInput } from "../model/endpointFields";
import type { Profile } from "../model/fidelity";
import { graphqlFields } from "../model/fieldTable";
import {
  OBSERVED_FIELDS,
  type ObservedFields,
  observedFieldsAfterSave,
  UNSET_OBSERVED_FIELDS,
} from "../model/observedFields";
import { readLagMs } from "../records/history";
import { shown } from "./endpointRules";
import type { Endpoint, Endpoints, EndpointView } from "./endpoints";

/** Returns the network volume with the id, or `undefined` if the emulator knows none. */
export type FindVolume = (id: string) => { readonly id: string; readonly dataCenterId: string } | undefined;

interface TemplateChange {
  readonly endpointId: string;
  readonly templateId: string;
}

/** Creates the part of the GraphQL interface for endpoints. */
export function endpointPart(endpoints: Endpoints, profile: Profile, findVolume: FindVolume): GraphqlPart {
  const view = (endpoint: EndpointView) => ({
    ...shown(endpoint.record, profile),
    ...(profile === "observed" && observedView(endpoint, findVolume)),
    pods: endpoint.pods,
  });
  const saved = ({ record, runtime }: Endpoint) => view({ record, pods: runtime.pods() });

  return {
    schema: schemaOf(profile),
    operations: {
      saveEndpoint({ input }: { input: EndpointInput & Partial<ObservedFields> & Refused }, { onEndpoint }) {
        assertSupported(input);
        const before = input.id == null ? undefined : endpoints.find(input.id)?.record.observed;
        const own = profile === "observed" ? { observed: observedFieldsAfterSave(before, input) } : {};
        const endpoint = endpoints.save(input, own);
        onEndpoint(endpoint.record.id);
        return saved(endpoint);
      },
      ...(profile === "observed" && {
        updateEndpointTemplate({ input: { endpointId, templateId } }: { input: TemplateChange }) {
          const current = endpoints.find(endpointId)?.record;
          if (!current) throw new BusinessError(`Endpoint "${endpointId}" not found`, "save.unknown-id");
          return saved(endpoints.save({ ...current, templateId }, {}));
        },
      }),
      deleteEndpoint({ id }: { id: string }) {
        endpoints.delete(id);
        return null;
      },
    },
    myself: { endpoints: ({ listLagMs }) => endpoints.list(listLagMs).map(view) },
    ...(profile === "observed" && {
      single: {
        endpoint({ id }: { id: string }, { listLagMs }: CallOptions) {
          const found = endpoints.list(readLagMs(listLagMs)).find(({ record }) => record.id === id);
          return found ? view(found) : null;
        },
      },
    }),
    endpointIdOf(operation, { id, input }) {
      if (operation === "deleteEndpoint") return id;
      if (operation === "updateEndpointTemplate") return (input as Partial<TemplateChange> | undefined)?.endpointId;
      return operation === "saveEndpoint" ? (input as Partial<EndpointInput> | null | undefined)?.id : undefined;
    },
  };
}

function schemaOf(profile: Profile): string {
  const isObserved = profile === "observed";
  const [output, input] = isObserved ? [OBSERVED_OUTPUT, OBSERVED_INPUT] : ["", ""];
  return `
    extend type Mutation {
      saveEndpoint(input: EndpointInput!): Endpoint!
      deleteEndpoint(id: String!): Void
      ${isObserved ? "updateEndpointTemplate(input: UpdateEndpointTemplateInput): Endpoint" : ""}
    }
    extend type Account { endpoints: [Endpoint!]! ${isObserved ? "endpoint(id: String!): Endpoint" : ""} }
    enum FlashBootType { FLASHBOOT ${isObserved ? "OFF PRIORITY_FLASHBOOT" : ""} }
    type Pod { ${isObserved ? "id: String!" : ""} desiredStatus: String }
    type Endpoint { id: String! ${graphqlFields(ENDPOINT_FIELDS, "output", profile)} ${output} pods: [Pod!]! }
    input EndpointInput { id: String ${graphqlFields(ENDPOINT_FIELDS, "input", profile)} ${input} }
    ${isObserved ? OBSERVED_TYPES : ""}
  `;
}

const OBSERVED_OUTPUT = `
  ${graphqlFields(OBSERVED_FIELDS, "output", "observed")}
  networkVolume: NetworkVolume version: Int createdAt: String userId: String aiKey: String hubRelease: HubRelease
`;
const OBSERVED_INPUT = `
  ${graphqlFields(OBSERVED_FIELDS, "input", "observed")}
  template: SaveTemplateInput bindEndpoint: Boolean
`;
const COMPLIANCE =
  "GDPR ISO_IEC_27001 ISO_14001 PCI_DSS HITRUST SOC_1_TYPE_2 SOC_2_TYPE_2 SOC_3_TYPE_2 ITAR FISMA_HIGH HIPAA";
const OBSERVED_TYPES = `
  type EndpointVolume { networkVolumeId: String dataCenterId: String }
  input EndpointVolumeInput { networkVolumeId: String! }
  type EndpointRepo { repoName: String }
  input EndpointRepoInput { repoName: String! }
  type HubRelease { id: String }
  enum Compliance { ${COMPLIANCE} }
  input UpdateEndpointTemplateInput { templateId: String! endpointId: String! }
`;

/** Fields that the service's clients may send but that have no effect in the emulator. */
interface Refused {
  readonly template?: object | null;
  readonly bindEndpoint?: boolean | null;
}

function assertSupported({ template, bindEndpoint }: Refused): void {
  if (template == null && !bindEndpoint) return;
  throw new BusinessError(
    "The emulator does not create a template together with an endpoint: use saveTemplate, then saveEndpoint with its templateId",
    "save.inline-template",
  );
}

/**
 * Returns the fields of an endpoint that only the observed service shows. The emulator's only user
 * has no id.
 */
function observedView({ record }: EndpointView, findVolume: FindVolume) {
  const { networkVolumeId, workersMin, createdAt, version, observed = UNSET_OBSERVED_FIELDS } = record;
  return {
    ...observed,
    networkVolumeIds: observed.networkVolumeIds?.map((volume) => ({
      ...volume,
      dataCenterId: findVolume(volume.networkVolumeId)?.dataCenterId ?? null,
    })),
    networkVolume: networkVolumeId === null ? null : (findVolume(networkVolumeId) ?? null),
    workersStandby: observed.workersStandby ?? workersMin,
    hubRelease: observed.hubReleaseId === null ? null : { id: observed.hubReleaseId },
    createdAt: new Date(createdAt).toISOString(),
    version,
    userId: EMULATED_USER_ID,
    aiKey: null,
  };
}

/** The id of the emulator's only user. */
export const EMULATED_USER_ID = "emulated-user";
