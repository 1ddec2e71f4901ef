import { changedByBody, createdByBody, shownByV2 } from "../model/v2Form";
import type { Pods } from "../pods/pods";
import { readLagMs } from "../records/history";
import { REGISTRY_AUTH_FIELDS } from "../registryAuths/registryAuthFields";
import type { RegistryAuths } from "../registryAuths/registryAuths";
import { TEMPLATE_FIELDS, type TemplateRecord } from "../templates/templateFields";
import type { Templates } from "../templates/templates";
import { CHANGEABLE_VOLUME_FIELDS, VOLUME_FIELDS, type VolumeRecord } from "../volumes/volumeFields";
import type { Volumes } from "../volumes/volumes";
import type { V2Call } from "./handler";
import { pageOf } from "./pages";
import { findOrRefuse, V2Refusal } from "./problem";

/** Returns the operations on templates. */
export function templateHandlers(templates: Templates) {
  const templateOf = (id: string, listLagMs?: number) => findOrRefuse(templates.list(readLagMs(listLagMs)), id);
  return {
    listTemplates({ listLagMs, query }: V2Call) {
      const own = templates.list(listLagMs).filter(({ boundEndpointId }) => boundEndpointId === null);
      const { items, pagination } = pageOf(own, query);
      return { templates: items.map(shownTemplate), pagination };
    },
    createTemplate: ({ body }: V2Call) => shownTemplate(templates.save(createdByBody(TEMPLATE_FIELDS, body))),
    getTemplate: ({ id, listLagMs }: V2Call) => shownTemplate(templateOf(id, listLagMs)),
    updateTemplate: ({ id, body }: V2Call) =>
      shownTemplate(templates.save({ ...templateOf(id), ...changedByBody(TEMPLATE_FIELDS, body), id })),
    deleteTemplate({ id }: V2Call) {
      templates.delete(templateOf(id).name);
      return undefined;
    },
  };
}

/** The emulator does not store a template's mounts or CUDA versions. */
function shownTemplate(template: TemplateRecord): object {
  return { id: template.id, ...shownByV2(TEMPLATE_FIELDS, template), mounts: {}, allowedCudaVersions: [] };
}

interface VolumeBody {
  readonly size?: number;
  readonly type?: "STANDARD" | "HIGH_PERFORMANCE";
}

/** Returns the operations on network volumes. */
export function volumeHandlers(volumes: Volumes) {
  const volumeOf = (id: string, listLagMs?: number) => findOrRefuse(volumes.list(readLagMs(listLagMs)), id);
  return {
    listNetworkVolumes({ listLagMs, query }: V2Call) {
      const { items, pagination } = pageOf(volumes.list(listLagMs), query);
      return { networkVolumes: items.map(shownVolume), pagination };
    },
    createNetworkVolume({ body }: V2Call<VolumeBody>) {
      const isNextGenStorage = body.type === "HIGH_PERFORMANCE";
      return shownVolume(volumes.create({ ...createdByBody(VOLUME_FIELDS, body), isNextGenStorage }));
    },
    getNetworkVolume: ({ id, listLagMs }: V2Call) => shownVolume(volumeOf(id, listLagMs)),
    updateNetworkVolume({ id, body }: V2Call<VolumeBody>) {
      const { size } = volumeOf(id);
      if (body.size !== undefined && body.size < size) {
        throw new V2Refusal(400, "network volume storage cannot be reduced", "v2.volume-shrink");
      }
      return shownVolume(volumes.update({ id, ...changedByBody(CHANGEABLE_VOLUME_FIELDS, body) }));
    },
    deleteNetworkVolume({ id }: V2Call) {
      volumeOf(id);
      volumes.delete(id);
      return undefined;
    },
  };
}

function shownVolume(volume: VolumeRecord): object {
  const type = volume.storageType === "VAST" ? "HIGH_PERFORMANCE" : "STANDARD";
  return { id: volume.id, ...shownByV2(VOLUME_FIELDS, volume), type };
}

/** Returns the operations on registry credentials. There is no update. */
export function registryHandlers(registryAuths: RegistryAuths, pods: Pods) {
  const credentialOf = (id: string, listLagMs?: number) => findOrRefuse(registryAuths.list(readLagMs(listLagMs)), id);
  const shown = ({ id, name }: { readonly id: string; readonly name: string }) => ({ id, name });
  return {
    listRegistries({ listLagMs, query }: V2Call) {
      const { items, pagination } = pageOf(registryAuths.list(listLagMs), query);
      return { registries: items.map(shown), pagination };
    },
    createRegistry: ({ body }: V2Call) => shown(registryAuths.create(createdByBody(REGISTRY_AUTH_FIELDS, body))),
    getRegistry: ({ id, listLagMs }: V2Call) => shown(credentialOf(id, listLagMs)),
    deleteRegistry({ id }: V2Call) {
      credentialOf(id);
      const user = pods.list().find((pod) => pod.containerRegistryAuthId === id && pod.desiredStatus !== "TERMINATED");
      if (user) throw new V2Refusal(400, `Registry is in use by pod "${user.name}"`, "v2.registry-in-use");
      registryAuths.remove(id);
      return undefined;
    },
  };
}
