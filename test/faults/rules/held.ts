/**
 * What an account of the stand-in holds. The stand-in is a service that was written from the
 * contract alone: nothing in this folder shares code with the client, the provider or the emulator.
 */

/** The settings of a container, which an endpoint has through its template. */
export interface HeldContainer {
  imageName: string;
  dockerArgs: string;
  containerDiskInGb: number;
  env: Record<string, string>;
  /** `8000/http,22/tcp`. */
  ports: string;
  containerRegistryAuthId: string;
}

export interface HeldTemplate extends HeldContainer {
  id: string;
  name: string;
  readme: string;
  isServerless: boolean;
  isPublic: boolean;
  volumeInGb: number;
  startSsh: boolean;
  startJupyter: boolean;
  /** The endpoint that it belongs to, and with which it ends. */
  boundEndpointId: string | null;
}

export interface HeldEndpoint {
  id: string;
  name: string;
  type: "QB" | "LB";
  gpuIds: string;
  instanceIds: string[];
  gpuCount: number;
  minCudaVersion: string;
  allowedCudaVersions: string;
  templateId: string;
  workersMin: number;
  workersMax: number;
  idleTimeout: number;
  scalerType: string;
  scalerValue: number;
  /** Data centers or countries, joined by commas. */
  locations: string;
  networkVolumeIds: string[];
  flashBootType: string;
  executionTimeoutMs: number;
  modelReferences: string[];
  compliance: string[];
  workersPFBTarget: number;
  /** Variables of the endpoint itself, which only GraphQL has. */
  ownEnv: Record<string, string>;
  version: number;
  createdAt: string;
}

export interface HeldVolume {
  id: string;
  name: string;
  size: number;
  dataCenterId: string;
  highPerformance: boolean;
}

export interface HeldAuth {
  id: string;
  name: string;
  username: string;
  password: string;
}

export interface HeldSecret {
  id: string;
  name: string;
  value: string;
  description: string;
  createdAt: string;
  changedAt: string;
}

export interface Held {
  endpoint: HeldEndpoint;
  template: HeldTemplate;
  volume: HeldVolume;
  auth: HeldAuth;
  secret: HeldSecret;
}

export type Kind = keyof Held;
export const KINDS: readonly Kind[] = ["endpoint", "template", "volume", "auth", "secret"];

/** The settings of a record as plain values. An endpoint includes those of its own container. */
export type Settings = Readonly<Record<string, unknown>>;

const CONTAINER: HeldContainer = {
  imageName: "",
  dockerArgs: "",
  containerDiskInGb: 20,
  env: {},
  ports: "",
  containerRegistryAuthId: "",
};

/** The records of one account. */
export class Account {
  readonly records: { readonly [K in Kind]: Map<string, Held[K]> } = {
    endpoint: new Map(),
    template: new Map(),
    volume: new Map(),
    auth: new Map(),
    secret: new Map(),
  };
  /** The ids that were deleted. */
  readonly deleted: { readonly kind: Kind; readonly id: string }[] = [];
  #last = 0;

  constructor(readonly id: string) {}

  #newId(kind: Kind): string {
    this.#last += 1;
    return `${kind.slice(0, 2)}${this.id}${String(this.#last).padStart(6, "0")}`.toLowerCase();
  }

  add<K extends Kind>(kind: K, record: Omit<Held[K], "id">): Held[K] {
    const added = { ...record, id: this.#newId(kind) } as Held[K];
    this.records[kind].set(added.id, added);
    return added;
  }

  addEndpoint(settings: Partial<HeldEndpoint>, container?: Partial<HeldContainer>): HeldEndpoint {
    const added = this.add("endpoint", {
      name: "endpoint",
      type: "QB",
      gpuIds: "",
      instanceIds: [],
      gpuCount: 1,
      minCudaVersion: "",
      allowedCudaVersions: "",
      templateId: "",
      workersMin: 0,
      workersMax: 3,
      idleTimeout: 10,
      scalerType: "QUEUE_DELAY",
      scalerValue: 4,
      locations: "",
      networkVolumeIds: [],
      flashBootType: "OFF",
      executionTimeoutMs: 600_000,
      modelReferences: [],
      compliance: [],
      workersPFBTarget: 0,
      ownEnv: {},
      version: 1,
      createdAt: new Date().toISOString(),
      ...settings,
    });
    if (container) this.bindContainer(added, container);
    return added;
  }

  addTemplate(settings: Partial<HeldTemplate>): HeldTemplate {
    return this.add("template", {
      ...CONTAINER,
      name: "template",
      readme: "",
      isServerless: true,
      isPublic: false,
      volumeInGb: 0,
      startSsh: false,
      startJupyter: false,
      boundEndpointId: null,
      ...settings,
    });
  }

  /** Returns a copy, which an old answer shows. */
  copy(): Account {
    const copy = new Account(this.id);
    for (const kind of KINDS) {
      const records = copy.records[kind] as Map<string, Held[Kind]>;
      for (const [id, record] of this.records[kind]) records.set(id, structuredClone(record));
    }
    return copy;
  }

  /** Gives an endpoint a template of its own, with its present container and these changes. */
  bindContainer(endpoint: HeldEndpoint, changes: Partial<HeldContainer>): void {
    const own = this.records.template.get(endpoint.templateId);
    if (own?.boundEndpointId === endpoint.id) return void Object.assign(own, changes);
    const { imageName, dockerArgs, containerDiskInGb, env, ports, containerRegistryAuthId } = own ?? CONTAINER;
    const template = this.addTemplate({
      ...{ imageName, dockerArgs, containerDiskInGb, env, ports, containerRegistryAuthId },
      ...changes,
      name: `${endpoint.name}__template__${endpoint.id}`,
      boundEndpointId: endpoint.id,
    });
    endpoint.templateId = template.id;
  }

  /** Returns the container of an endpoint. */
  containerOf({ templateId }: HeldEndpoint): HeldContainer {
    return this.records.template.get(templateId) ?? CONTAINER;
  }

  delete(kind: Kind, id: string): void {
    for (const template of this.records.template.values()) {
      if (kind === "endpoint" && template.boundEndpointId === id) this.records.template.delete(template.id);
    }
    this.records[kind].delete(id);
    this.deleted.push({ kind, id });
  }

  /** Returns the settings of a record, or `undefined` if it does not exist. */
  settings(kind: Kind, id: string): Settings | undefined {
    const record = this.records[kind].get(id);
    if (!record) return undefined;
    if (kind !== "endpoint") return structuredClone(record) as unknown as Settings;
    const { ownEnv, version: _, createdAt: __, ...endpoint } = record as HeldEndpoint;
    const template = this.records.template.get(endpoint.templateId);
    if (template?.boundEndpointId !== id) return structuredClone({ ...endpoint, env: ownEnv });
    const { imageName, dockerArgs, containerDiskInGb, env, ports, containerRegistryAuthId } = template;
    const container = { imageName, dockerArgs, containerDiskInGb, ports, containerRegistryAuthId };
    return structuredClone({ ...endpoint, templateId: "", ...container, env: { ...env, ...ownEnv } });
  }
}
