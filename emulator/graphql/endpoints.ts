import { shown } from "../endpoints/endpointRules";
import type { Endpoint, Endpoints, EndpointView } from "../endpoints/endpoints";
import { createWithTemplate, type OwnTemplate, type OwnTemplates } from "../endpoints/ownTemplate";
import type { CallOptions } from "../io/http";
import { BusinessError } from "../model/businessError";
import type { EndpointInput } from "../model/endpointFields";
import type { Profile } from "../model/fidelity";
import { readLagMs } from "../records/history";
import type { WorkerPod } from "../workers/worker";
import { endpointSchema } from "./endpointSchema";
import type { GraphqlPart } from "./part";

/** Returns a network volume, or `undefined` if the emulator does not know it. */
type FindVolume = (id: string) => { readonly id: string; readonly dataCenterId: string } | undefined;

/** The parts of the account that the GraphQL API for endpoints uses. */
interface EndpointGraphqlParts {
  readonly endpoints: Endpoints;
  readonly profile: Profile;
  readonly templates: OwnTemplates;
  readonly findVolume: FindVolume;
  readonly accountId: string;
  /** Returns the current time in milliseconds since the epoch. */
  readonly now: () => number;
}

/** Returns a worker's pod as the endpoint shows it. */
function podView(pod: Readonly<WorkerPod>, now: number) {
  const { imageName } = pod.container;
  return { ...pod, imageName, uptimeSeconds: Math.floor((now - pod.startedAt) / 1000) };
}

interface TemplateChange {
  readonly endpointId: string;
  readonly templateId: string;
}

/** The `input` of `saveEndpoint`, including fields that only the observed profile accepts. */
interface SaveInput extends Partial<EndpointInput> {
  readonly name: string;
  /** A template to create for the endpoint, instead of `templateId`. */
  readonly template?: OwnTemplate | null;
  /** `false` if the template is kept when the endpoint is deleted. @default true */
  readonly bindEndpoint?: boolean | null;
  /** The newer form of `locations`. */
  readonly dataCenterIds?: readonly string[] | null;
  /** Has no effect. */
  readonly requestTTL?: number | null;
  /** Has no effect. */
  readonly cloudStorageConfig?: object | null;
}

/** Creates the part of the GraphQL API for endpoints. */
export function endpointPart(parts: EndpointGraphqlParts): GraphqlPart {
  const { endpoints, profile } = parts;
  const view = (endpoint: EndpointView) => ({
    ...shown(endpoint.record, profile),
    ...(profile === "observed" && observedView(endpoint, parts)),
    pods: profile === "observed" ? endpoint.pods.map((pod) => podView(pod, parts.now())) : endpoint.pods,
  });
  const saved = ({ record, runtime }: Endpoint) => view({ record, pods: runtime.pods() });

  return {
    schema: endpointSchema(profile),
    operations: {
      saveEndpoint({ input }: { input: SaveInput }, { onEndpoint }) {
        const endpoint = save(parts, input);
        onEndpoint(endpoint.record.id);
        return saved(endpoint);
      },
      ...(profile === "observed" && {
        updateEndpointTemplate: ({ input: { endpointId, templateId } }: { input: TemplateChange }) =>
          saved(endpoints.patch(endpointId, { templateId }, { container: null })),
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

function save(
  { endpoints, profile, templates }: EndpointGraphqlParts,
  { template, bindEndpoint, dataCenterIds, requestTTL: _, cloudStorageConfig: __, ...input }: SaveInput,
): Endpoint {
  const current = input.id == null ? undefined : endpoints.find(input.id)?.record;
  const fields = {
    ...input,
    gpuIds: input.gpuIds ?? "",
    templateId: input.templateId ?? current?.templateId ?? "",
    ...(dataCenterIds != null && { locations: dataCenterIds.join(",") }),
    ...(profile === "observed" && { workersStandby: input.workersStandby ?? DEFAULT_STANDBY }),
    // With a `templateId`, `env` in the input is ignored: the template's variables apply.
    ...(input.templateId != null && { env: current?.env }),
  };
  if (template == null) return endpoints.save(fields, input);
  if (input.templateId != null) {
    throw new BusinessError("template and templateId cannot be combined", "save.template-or-id");
  }
  if (input.id != null) {
    throw new BusinessError(
      "The template of an endpoint is changed by saveTemplate with its templateId",
      "save.template-once",
    );
  }
  return createWithTemplate(templates, template, bindEndpoint ?? true, (templateId) =>
    endpoints.save({ ...fields, templateId }),
  );
}

/** Returns the endpoint fields that only the observed service shows. */
function observedView({ record }: EndpointView, { findVolume, templates, accountId }: EndpointGraphqlParts) {
  const { networkVolumeId, workersStandby, createdAt, hubReleaseId } = record;
  return {
    networkVolumeIds: record.networkVolumeIds?.map((volume) => ({
      ...volume,
      dataCenterId: findVolume(volume.networkVolumeId)?.dataCenterId ?? null,
    })),
    networkVolume: networkVolumeId === null ? null : (findVolume(networkVolumeId) ?? null),
    template: templates.find(record.templateId) ?? null,
    workersStandby: workersStandby ?? 0,
    hubRelease: hubReleaseId === null ? null : { id: hubReleaseId },
    createdAt: new Date(createdAt).toISOString(),
    userId: accountId,
    aiKey: null,
  };
}

/** The number of standby workers if the last save did not set it, even if `workersMin` is 0. */
const DEFAULT_STANDBY = 1;
