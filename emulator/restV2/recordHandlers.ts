import type { Pods } from "../pods/pods";
import type { RegistryAuths } from "../registryAuths/registryAuths";
import type { TemplateInput, TemplateRecord } from "../templates/templateFields";
import type { Templates } from "../templates/templates";
import type { VolumeRecord } from "../volumes/volumeFields";
import type { Volumes } from "../volumes/volumes";
import { type ContainerBody, shownContainer } from "./endpointShape";
import type { V2Call } from "./handler";
import { pageOf } from "./pages";
import { findOrRefuse, Refusal } from "./problem";

interface TemplateBody extends ContainerBody {
  readonly name?: string;
  readonly serverless?: boolean;
  readonly public?: boolean;
  readonly category?: "CPU" | "NVIDIA" | "AMD";
  readonly startSsh?: boolean;
  readonly startJupyter?: boolean;
}

/** Returns the operations on templates. */
export function templateHandlers(templates: Templates) {
  const mustFind = (id: string, listLagMs?: number) => findOrRefuse(templates.list(listLagMs), id);
  return {
    listTemplates({ listLagMs, query }: V2Call) {
      const own = templates.list(listLagMs).filter(({ boundEndpointId }) => boundEndpointId === null);
      const { items, pagination } = pageOf(own, query);
      return { templates: items.map(shownTemplate), pagination };
    },
    createTemplate: ({ body }: V2Call<TemplateBody>) =>
      shownTemplate(templates.save({ ...NEW_TEMPLATE, ...templateInput(body), id: null } as unknown as TemplateInput)),
    getTemplate: ({ id, listLagMs }: V2Call) => shownTemplate(mustFind(id, listLagMs)),
    updateTemplate({ id, body }: V2Call<TemplateBody>) {
      const before = mustFind(id);
      return shownTemplate(templates.save({ ...before, ...templateInput(body), id } as unknown as TemplateInput));
    },
    deleteTemplate({ id }: V2Call) {
      templates.delete(mustFind(id).name);
      return undefined;
    },
  };
}

const NEW_TEMPLATE = {
  dockerArgs: "",
  containerDiskInGb: 20,
  volumeInGb: 0,
  env: [],
  category: "NVIDIA",
  startSsh: true,
  startJupyter: true,
};

function templateInput(body: TemplateBody): object {
  const { name, image, args, disk, env, ports, registry, serverless, category, startSsh, startJupyter } = body;
  const given = {
    name,
    imageName: image,
    dockerArgs: args,
    containerDiskInGb: disk,
    env: env && Object.entries(env).map(([key, value]) => ({ key, value })),
    ports: ports?.join(","),
    containerRegistryAuthId: registry,
    isServerless: serverless,
    isPublic: body.public,
    category,
    startSsh,
    startJupyter,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function shownTemplate(template: TemplateRecord): object {
  const { id, name, isServerless, isPublic, category, startSsh, startJupyter, env, ports } = template;
  return {
    id,
    name,
    ...shownContainer({
      ...template,
      env: Object.fromEntries(env.map(({ key, value }) => [key, value])),
      ports: ports.split(",").filter((port) => port !== ""),
    }),
    mounts: {},
    serverless: isServerless,
    public: isPublic,
    category: category ?? "NVIDIA",
    startSsh,
    startJupyter,
    allowedCudaVersions: [],
  };
}

interface VolumeBody {
  readonly name: string;
  readonly size: number;
  readonly dataCenter: string;
  readonly type?: "STANDARD" | "HIGH_PERFORMANCE";
}

/** Returns the operations on network volumes. */
export function volumeHandlers(volumes: Volumes) {
  const mustFind = (id: string, listLagMs?: number) => findOrRefuse(volumes.list(listLagMs), id);
  return {
    listNetworkVolumes({ listLagMs, query }: V2Call) {
      const { items, pagination } = pageOf(volumes.list(listLagMs), query);
      return { networkVolumes: items.map(shownVolume), pagination };
    },
    createNetworkVolume({ body: { name, size, dataCenter, type } }: V2Call<VolumeBody>) {
      const isNextGenStorage = type === "HIGH_PERFORMANCE";
      return shownVolume(volumes.create({ name, size, dataCenterId: dataCenter, isNextGenStorage }));
    },
    getNetworkVolume: ({ id, listLagMs }: V2Call) => shownVolume(mustFind(id, listLagMs)),
    updateNetworkVolume({ id, body }: V2Call<Partial<VolumeBody>>) {
      const { size } = mustFind(id);
      if (body.size !== undefined && body.size < size) {
        throw new Refusal(400, "network volume storage cannot be reduced", "v2.volume-shrink");
      }
      return shownVolume(volumes.update({ id, ...body }));
    },
    deleteNetworkVolume({ id }: V2Call) {
      mustFind(id);
      volumes.delete(id);
      return undefined;
    },
  };
}

function shownVolume({ id, name, size, dataCenterId, storageType }: VolumeRecord): object {
  return { id, name, size, dataCenter: dataCenterId, type: storageType === "VAST" ? "HIGH_PERFORMANCE" : "STANDARD" };
}

interface RegistryBody {
  readonly name: string;
  readonly username: string;
  readonly password: string;
}

/** Returns the operations on registry credentials. There is none that changes one. */
export function registryHandlers(registryAuths: RegistryAuths, pods: Pods) {
  const mustFind = (id: string, listLagMs?: number) => findOrRefuse(registryAuths.list(listLagMs), id);
  const shown = ({ id, name }: { readonly id: string; readonly name: string }) => ({ id, name });
  return {
    listRegistries({ listLagMs, query }: V2Call) {
      const { items, pagination } = pageOf(registryAuths.list(listLagMs), query);
      return { registries: items.map(shown), pagination };
    },
    createRegistry: ({ body }: V2Call<RegistryBody>) => shown(registryAuths.create({ ...body, id: null })),
    getRegistry: ({ id, listLagMs }: V2Call) => shown(mustFind(id, listLagMs)),
    deleteRegistry({ id }: V2Call) {
      mustFind(id);
      const user = pods.list().find((pod) => pod.containerRegistryAuthId === id && pod.desiredStatus !== "TERMINATED");
      if (user) throw new Refusal(400, `Registry is in use by pod "${user.name}"`, "v2.registry-in-use");
      registryAuths.remove(id);
      return undefined;
    },
  };
}
