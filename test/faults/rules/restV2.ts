import type { Account, HeldContainer, HeldEndpoint, HeldTemplate, HeldVolume, Kind } from "./held";

type Fields = Record<string, unknown>;

/** A response of REST v2. */
export interface V2Response {
  readonly status: number;
  readonly body?: unknown;
}

class Problem extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly errors?: readonly string[],
  ) {
    super(message);
  }
}

const list = (text: string) => (text === "" ? [] : text.split(",").map((each) => each.trim()));

const containerOf = ({
  imageName,
  dockerArgs,
  containerDiskInGb,
  env,
  ports,
  containerRegistryAuthId,
}: HeldContainer) => ({
  image: imageName,
  args: dockerArgs,
  disk: containerDiskInGb,
  env: { ...env },
  ports: list(ports),
  registry: containerRegistryAuthId || null,
});

function heldContainer(body: Fields): Partial<HeldContainer> {
  return {
    ...("image" in body && { imageName: String(body.image) }),
    ...("args" in body && { dockerArgs: String(body.args) }),
    ...("disk" in body && { containerDiskInGb: Number(body.disk) }),
    ...("env" in body && { env: body.env as Record<string, string> }),
    ...("ports" in body && { ports: (body.ports as string[]).join(",") }),
    ...("registry" in body && { containerRegistryAuthId: (body.registry as string | null) ?? "" }),
  };
}

function shownEndpoint(account: Account, endpoint: HeldEndpoint): Fields {
  const { id, name, type, workersMin: min, workersMax: max, idleTimeout, scalerType, scalerValue } = endpoint;
  const isQueue = type === "QB";
  const countsRequests = scalerType === "REQUEST_COUNT";
  const tiers = list(endpoint.gpuIds);
  return {
    id,
    name,
    type: isQueue ? "QUEUE" : "LOAD_BALANCER",
    ...(endpoint.instanceIds.length > 0
      ? {
          cpu: endpoint.instanceIds.map((each) => {
            const [flavor, vcpus = "2", memory = "0"] = each.split("-");
            return { id: flavor, vcpuCount: Number(vcpus), memory: Number(memory) };
          }),
        }
      : {
          gpu: {
            pools: tiers.filter((each) => !each.startsWith("-")),
            excludedTypes: tiers.filter((each) => each.startsWith("-")).map((each) => each.slice(1)),
            count: endpoint.gpuCount,
            allowedCudaVersions: list(endpoint.allowedCudaVersions),
            minCudaVersion: endpoint.minCudaVersion || null,
          },
        }),
    workers: { min, max, ...(isQueue && countsRequests ? {} : { idleTimeout }) },
    scaling: countsRequests
      ? { type: scalerType, requestCount: scalerValue }
      : { type: scalerType, queueDelay: scalerValue },
    dataCenterIds: list(endpoint.locations),
    networkVolumes: endpoint.networkVolumeIds,
    timeout: endpoint.executionTimeoutMs,
    flashboot: endpoint.flashBootType,
    ...containerOf(account.containerOf(endpoint)),
    createdAt: endpoint.createdAt,
  };
}

/** A field that is not one of these is refused. */
const ENDPOINT_FIELDS =
  "name type gpu cpu scaling workers dataCenterIds flashboot networkVolumes timeout templateId image args disk env ports registry";

function refuseUnknown(body: Fields, known: string): void {
  const unknown = Object.keys(body).filter((field) => !known.split(" ").includes(field));
  const errors = unknown.map((field) => `$: additional properties '${field}' not allowed`);
  if (errors.length > 0) throw new Problem(422, "Request validation failed.", errors);
}

function applyEndpoint(account: Account, endpoint: HeldEndpoint, body: Fields): void {
  const { name, gpu, cpu, scaling, workers, dataCenterIds, flashboot, networkVolumes, timeout, templateId } = body;
  if (name !== undefined) endpoint.name = String(name);
  applyGpu(endpoint, gpu as Fields | undefined);
  if (cpu)
    endpoint.instanceIds = (cpu as { id: string; vcpuCount: number }[]).map(
      (each) => `${each.id}-${each.vcpuCount}-${each.vcpuCount * 4}`,
    );
  const { type, queueDelay, requestCount } = (scaling ?? {}) as Fields;
  if (scaling) Object.assign(endpoint, { scalerType: type, scalerValue: queueDelay ?? requestCount });
  const { min, max, idleTimeout } = (workers ?? {}) as Fields;
  if (min !== undefined) endpoint.workersMin = Number(min);
  if (max !== undefined) endpoint.workersMax = Number(max);
  if (idleTimeout !== undefined) endpoint.idleTimeout = Number(idleTimeout);
  if (dataCenterIds !== undefined) endpoint.locations = (dataCenterIds as string[]).join(",");
  if (flashboot !== undefined) endpoint.flashBootType = String(flashboot);
  if (networkVolumes !== undefined) endpoint.networkVolumeIds = [...(networkVolumes as string[])];
  if (timeout !== undefined) endpoint.executionTimeoutMs = Number(timeout);
  const template = templateId === undefined ? undefined : account.records.template.get(String(templateId));
  if (templateId !== undefined && !template) throw new Problem(404, "resource not found");
  const { imageName, dockerArgs, containerDiskInGb, env, ports, containerRegistryAuthId } =
    template ?? ({} as HeldTemplate);
  const given = heldContainer(body);
  if (!template && Object.keys(given).length === 0) return;
  account.bindContainer(endpoint, {
    ...(template && { imageName, dockerArgs, containerDiskInGb, env, ports, containerRegistryAuthId }),
    ...given,
  });
  endpoint.version += 1;
}

function applyGpu(endpoint: HeldEndpoint, gpu: Fields | undefined): void {
  if (!gpu) return;
  refuseUnknown(gpu, "pools excludedTypes count allowedCudaVersions minCudaVersion");
  const { pools, excludedTypes, count, allowedCudaVersions, minCudaVersion } = gpu;
  if (excludedTypes && !pools) throw new Problem(422, "excludedTypes without pools");
  const excluded = ((excludedTypes ?? []) as string[]).map((each) => `-${each}`);
  if (pools) endpoint.gpuIds = [...(pools as string[]), ...excluded].join(",");
  if (count !== undefined) endpoint.gpuCount = Number(count);
  if (allowedCudaVersions !== undefined) endpoint.allowedCudaVersions = (allowedCudaVersions as string[]).join(",");
  if (minCudaVersion !== undefined) endpoint.minCudaVersion = String(minCudaVersion ?? "");
}

function createEndpoint(account: Account, body: Fields): HeldEndpoint {
  refuseUnknown(body, ENDPOINT_FIELDS);
  const missing = ["name", "type", "scaling"].filter((field) => body[field] === undefined);
  if (missing.length > 0) {
    throw new Problem(
      422,
      "Request validation failed.",
      missing.map((field) => `$: missing property '${field}'`),
    );
  }
  if ((body.gpu === undefined) === (body.cpu === undefined)) throw new Problem(400, "exactly one of gpu and cpu");
  if (!body.image && !body.templateId) throw new Problem(400, "image or templateId is required");
  if (body.templateId && !account.records.template.has(String(body.templateId)))
    throw new Problem(404, "resource not found");
  const endpoint = account.addEndpoint({ type: body.type === "LOAD_BALANCER" ? "LB" : "QB" });
  applyEndpoint(account, endpoint, body);
  endpoint.version = 1;
  return endpoint;
}

function changeEndpoint(account: Account, endpoint: HeldEndpoint, body: Fields): HeldEndpoint {
  refuseUnknown(body, ENDPOINT_FIELDS.replace(" type", ""));
  if (Object.keys(body).length === 0) throw new Problem(422, "an empty change");
  if (body.cpu && endpoint.instanceIds.length === 0) throw new Problem(400, "the kind of processor is fixed");
  if (body.gpu && endpoint.instanceIds.length > 0) throw new Problem(400, "the kind of processor is fixed");
  applyEndpoint(account, endpoint, body);
  return endpoint;
}

const shownTemplate = (template: HeldTemplate) => ({
  id: template.id,
  name: template.name,
  ...containerOf(template),
  mounts: null,
  serverless: template.isServerless,
  public: template.isPublic,
  category: "NVIDIA",
  startSsh: template.startSsh,
  startJupyter: template.startJupyter,
  allowedCudaVersions: [],
});

function saveTemplate(account: Account, template: HeldTemplate | undefined, body: Fields): HeldTemplate {
  refuseUnknown(
    body,
    "name image args disk env ports registry serverless public category startSsh startJupyter mounts allowedCudaVersions",
  );
  const { name, serverless, startSsh, startJupyter } = body;
  const isTaken = [...account.records.template.values()].some((each) => each.name === name && each.id !== template?.id);
  if (isTaken) throw new Problem(400, "Template name must be unique");
  const settings = {
    ...heldContainer(body),
    ...(name !== undefined && { name: String(name) }),
    ...(serverless !== undefined && { isServerless: serverless === true }),
    ...(startSsh !== undefined && { startSsh: startSsh === true }),
    ...(startJupyter !== undefined && { startJupyter: startJupyter === true }),
  };
  return template ? Object.assign(template, settings) : account.addTemplate(settings);
}

const shownVolume = (_: Account, { id, name, size, dataCenterId, highPerformance }: HeldVolume) => ({
  ...{ id, name, size, dataCenter: dataCenterId },
  type: highPerformance ? "HIGH_PERFORMANCE" : "STANDARD",
});

function saveVolume(account: Account, id: string | undefined, body: Fields) {
  refuseUnknown(body, id ? "name size" : "name size dataCenter type");
  const volume = id === undefined ? undefined : account.records.volume.get(id);
  if (volume && Number(body.size ?? volume.size) < volume.size) throw new Problem(400, "a volume cannot shrink");
  const { dataCenter, type, ...others } = body;
  if (volume) return Object.assign(volume, others);
  const highPerformance = type === "HIGH_PERFORMANCE";
  return account.add("volume", { ...others, dataCenterId: dataCenter, highPerformance } as never);
}

function saveSecret(account: Account, id: string | undefined, body: Fields) {
  refuseUnknown(body, id ? "value description" : "name value description");
  const now = new Date().toISOString();
  const secret = id === undefined ? undefined : account.records.secret.get(id);
  if (secret) return Object.assign(secret, body, "value" in body ? { changedAt: now } : {});
  return account.add("secret", { description: "", ...body, createdAt: now, changedAt: now } as never);
}

interface Route {
  readonly kind: Kind;
  readonly field: string;
  readonly show: (account: Account, record: never) => unknown;
  readonly save?: (account: Account, id: string | undefined, body: Fields) => { readonly id: string };
  readonly hasNoChange?: true;
}

const ROUTES: Readonly<Record<string, Route>> = {
  serverless: {
    kind: "endpoint",
    field: "endpoints",
    show: shownEndpoint,
    save(account, id, body) {
      const endpoint = id === undefined ? undefined : account.records.endpoint.get(id);
      return endpoint ? changeEndpoint(account, endpoint, body) : createEndpoint(account, body);
    },
  },
  templates: {
    kind: "template",
    field: "templates",
    show: (_, template: HeldTemplate) => shownTemplate(template),
    save: (account, id, body) =>
      saveTemplate(account, id === undefined ? undefined : account.records.template.get(id), body),
  },
  "network-volumes": { kind: "volume", field: "networkVolumes", show: shownVolume, save: saveVolume },
  registries: {
    kind: "auth",
    field: "registries",
    show: (_, { id, name }: { id: string; name: string }) => ({ id, name }),
    save: (account, _id, body) => account.add("auth", body as never),
    hasNoChange: true,
  },
  secrets: {
    kind: "secret",
    field: "secrets",
    show: (_, { value: __, changedAt, ...secret }: { value: string; changedAt: string }) => ({
      ...secret,
      valueLastUpdatedAt: changedAt,
    }),
    save: saveSecret,
  },
};

/** Returns the kind and the id of a path below `/v2`. */
export function routeOf(
  path: string,
): { readonly kind: Kind; readonly id: string | undefined; readonly part: string } | undefined {
  const [first = "", id, part = ""] = path
    .replace(/^\/account/, "")
    .split("/")
    .slice(1);
  const route = ROUTES[first];
  return route && { kind: route.kind, id, part };
}

/** Answers a request to REST v2 as the service does. */
export function answerV2(account: Account, method: string, path: string, body: Fields): V2Response {
  try {
    return answer(account, method, path, body);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { status, message, errors } = error;
    return { status, body: { title: "Refused", status, detail: message, ...(errors && { errors }) } };
  }
}

function answer(account: Account, method: string, path: string, body: Fields): V2Response {
  const [first = "", id, part] = path
    .replace(/^\/account/, "")
    .split("/")
    .slice(1);
  const route = ROUTES[first];
  if (!route) throw new Problem(404, "resource not found");
  const { kind, field, show, save } = route;
  const records = account.records[kind] as unknown as Map<string, never>;
  if (id === undefined && method === "GET") {
    const all = [...records.values()].filter((each) => !(each as Partial<HeldTemplate>).boundEndpointId);
    return {
      status: 200,
      body: { [field]: all.map((each) => show(account, each)), pagination: { nextCursor: null, hasNextPage: false } },
    };
  }
  if (id === undefined && method === "POST" && save) {
    const { id: created } = save(account, undefined, body);
    return { status: 201, body: show(account, records.get(created) as never) };
  }
  const record = id === undefined ? undefined : records.get(id);
  if (!record || id === undefined) throw new Problem(404, "resource not found");
  if (part) return workersAndReleases(record as HeldEndpoint, part);
  if (method === "GET") return { status: 200, body: show(account, record) };
  if (method === "PATCH" && save && !route.hasNoChange) {
    save(account, id, body);
    return { status: 200, body: show(account, record) };
  }
  if (method !== "DELETE") throw new Problem(405, "Method Not Allowed");
  refuseUsed(account, kind, id);
  account.delete(kind, id);
  return { status: 204 };
}

function refuseUsed(account: Account, kind: Kind, id: string): void {
  const endpoints = [...account.records.endpoint.values()];
  const isUsed =
    (kind === "template" && endpoints.some((each) => each.templateId === id)) ||
    (kind === "volume" && endpoints.some((each) => each.networkVolumeIds.includes(id)));
  if (isUsed) throw new Problem(400, `the ${kind} is in use by an endpoint and cannot be deleted`);
}

function workersAndReleases({ version, createdAt }: HeldEndpoint, part: string): V2Response {
  const none = { running: 0, idle: 0, initializing: 0, throttled: 0, unhealthy: 0, total: 0 };
  if (part === "workers") return { status: 200, body: { workers: [], summary: none, endpointVersion: version } };
  if (part !== "releases") throw new Problem(404, "resource not found");
  const releases = [{ id: `r${version}`, version, source: "MANUAL", createdAt, diff: [] }];
  const rollout = { inProgress: false, workersOnLatest: 0, workersTotal: 0, percentOnLatest: 0 };
  return { status: 200, body: { endpointVersion: version, rollout, releases } };
}
