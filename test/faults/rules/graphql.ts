import { buildSchema, GraphQLError, graphql } from "graphql";
import type { Account, HeldContainer, HeldEndpoint, HeldTemplate, Kind } from "./held";

const CONTAINER = `imageName: String dockerArgs: String containerDiskInGb: Int volumeInGb: Int volumeMountPath: String
  ports: String readme: String containerRegistryAuthId: String startSsh: Boolean startJupyter: Boolean
  startScript: String advancedStart: Boolean category: Category`;

const SHARED = `name: String gpuIds: String templateId: String idleTimeout: Int locations: String
  flashBootType: FlashBootType scalerType: String scalerValue: Int workersMin: Int workersMax: Int
  networkVolumeId: String executionTimeoutMs: Int gpuCount: Int minCudaVersion: String allowedCudaVersions: String
  type: String instanceIds: [String] modelReferences: [String] compliance: [Compliance] workersPFBTarget: Int
  flashEnvironmentId: String`;

/** The defaults apply to updates, too: that is what makes `saveEndpoint` no patch. */
const INPUT = SHARED.replace("idleTimeout: Int", "idleTimeout: Int = 10")
  .replace("scalerValue: Int", "scalerValue: Int = 4")
  .replace("workersMin: Int", "workersMin: Int = 0")
  .replace("workersMax: Int", "workersMax: Int = 3")
  .replace("gpuCount: Int", "gpuCount: Int = 1")
  .replace("workersPFBTarget: Int", "workersPFBTarget: Int = 0")
  .replace("name: String", "name: String!");

const SCHEMA = buildSchema(`
  enum FlashBootType { OFF FLASHBOOT PRIORITY_FLASHBOOT }
  enum Category { CPU GPU NVIDIA AMD }
  enum Compliance { GDPR ISO_IEC_27001 ISO_14001 PCI_DSS HITRUST SOC_2_TYPE_2 HIPAA }
  type Variable { key: String value: String }
  type Port { name: String port: String }
  type Pod { id: String desiredStatus: String slsVersion: Int uptimeSeconds: Int }
  type VolumePlace { networkVolumeId: String dataCenterId: String }
  type Source { id: String }
  type Endpoint { id: String ${SHARED} networkVolumeIds: [VolumePlace] workersStandby: Int env: [Variable] version: Int
    createdAt: String userId: String computeType: String pods: [Pod] template: PodTemplate repo: Source hubRelease: Source }
  type PodTemplate { id: String name: String ${CONTAINER} env: [Variable] portsConfig: [Port] isServerless: Boolean
    isPublic: Boolean boundEndpointId: String }
  type NetworkVolume { id: String name: String size: Int dataCenterId: String storageType: String }
  type ContainerRegistryAuth { id: String name: String }
  type Secret { id: ID name: String description: String createdAt: String updatedAt: String lastUpdatedAt: String }
  type Discount { discountFactor: Float type: String expirationDate: String }
  type User { id: String endpoints: [Endpoint] endpoint(id: String!): Endpoint serverlessDiscount: Discount
    podTemplates: [PodTemplate] networkVolumes: [NetworkVolume] containerRegistryCreds: [ContainerRegistryAuth]
    secrets: [Secret] }
  type Query { myself: User podTemplate(id: String!): PodTemplate }
  input VariableInput { key: String! value: String! }
  input PortInput { name: String! port: String! }
  input VolumeInput { networkVolumeId: String! }
  input EndpointTemplateInput { name: String! imageName: String! dockerArgs: String! containerDiskInGb: Int!
    env: [VariableInput]! ports: String readme: String containerRegistryAuthId: String startSsh: Boolean
    startJupyter: Boolean startScript: String advancedStart: Boolean }
  input EndpointInput { id: String ${INPUT} networkVolumeIds: [VolumeInput] workersStandby: Int env: [VariableInput]
    template: EndpointTemplateInput }
  input SaveTemplateInput { id: String name: String! imageName: String dockerArgs: String! containerDiskInGb: Int!
    volumeInGb: Int! env: [VariableInput]! isServerless: Boolean isPublic: Boolean ports: String portsConfig: [PortInput]
    containerRegistryAuthId: String readme: String startSsh: Boolean startJupyter: Boolean startScript: String
    advancedStart: Boolean volumeMountPath: String category: Category }
  input CreateNetworkVolumeInput { name: String size: Int dataCenterId: String! isNextGenStorage: Boolean }
  input UpdateNetworkVolumeInput { id: String! name: String size: Int }
  input DeleteNetworkVolumeInput { id: String! }
  input SaveRegistryAuthInput { name: String! username: String! password: String! }
  input UpdateRegistryAuthInput { id: String! username: String! password: String! }
  input SecretCreateInput { name: String! value: String! description: String }
  input SecretValueUpdateInput { id: ID! value: String! }
  input SecretDescriptionUpdateInput { id: ID! description: String! }
  type Mutation { saveEndpoint(input: EndpointInput!): Endpoint deleteEndpoint(id: String!): String
    saveTemplate(input: SaveTemplateInput): PodTemplate deleteTemplate(templateName: String): String
    createNetworkVolume(input: CreateNetworkVolumeInput!): NetworkVolume
    updateNetworkVolume(input: UpdateNetworkVolumeInput!): NetworkVolume
    deleteNetworkVolume(input: DeleteNetworkVolumeInput!): String
    saveRegistryAuth(input: SaveRegistryAuthInput): ContainerRegistryAuth
    updateRegistryAuth(input: UpdateRegistryAuthInput): ContainerRegistryAuth
    deleteRegistryAuth(registryAuthId: String): String secretCreate(input: SecretCreateInput!): Secret
    secretValueUpdate(input: SecretValueUpdateInput!): Secret
    secretDescriptionUpdate(input: SecretDescriptionUpdateInput!): Secret secretDelete(id: ID!): String }
`);

type Fields = Readonly<Record<string, unknown>>;

const refused = (message: string) => new GraphQLError(message, { extensions: { code: "RUNPOD" } });

const asPairs = (env: Readonly<Record<string, string>>) => Object.entries(env).map(([key, value]) => ({ key, value }));
const asMap = (pairs: unknown) =>
  Object.fromEntries(((pairs ?? []) as { key: string; value: string }[]).map(({ key, value }) => [key, value]));

function shownTemplate(template: HeldTemplate | undefined) {
  return template ? { ...template, env: asPairs(template.env), portsConfig: [], category: "NVIDIA" } : null;
}

function shownEndpoint(account: Account, endpoint: HeldEndpoint) {
  const { networkVolumeIds, ownEnv, instanceIds, modelReferences, compliance } = endpoint;
  const [first = null, ...more] = networkVolumeIds;
  return {
    ...endpoint,
    networkVolumeId: more.length === 0 ? first : null,
    networkVolumeIds: networkVolumeIds.map((networkVolumeId) => ({
      networkVolumeId,
      dataCenterId: account.records.volume.get(networkVolumeId)?.dataCenterId ?? null,
    })),
    env: asPairs(ownEnv),
    instanceIds: instanceIds.length > 0 ? instanceIds : null,
    modelReferences,
    compliance: compliance.length > 0 ? compliance : null,
    minCudaVersion: endpoint.minCudaVersion || null,
    allowedCudaVersions: endpoint.allowedCudaVersions || null,
    locations: endpoint.locations || null,
    pods: [],
    userId: account.id,
    computeType: instanceIds.length > 0 ? "CPU" : "GPU",
    template: shownTemplate(account.records.template.get(endpoint.templateId)),
  };
}

function myself(account: Account) {
  const { endpoint, template, volume, auth, secret } = account.records;
  const one = (each: HeldEndpoint | undefined) => (each ? shownEndpoint(account, each) : null);
  return {
    id: account.id,
    endpoints: () => [...endpoint.values()].slice(0, 400).map(one),
    endpoint: ({ id }: { id: string }) => one(endpoint.get(id)),
    serverlessDiscount: null,
    podTemplates: () => [...template.values()].map(shownTemplate),
    networkVolumes: () =>
      [...volume.values()].map((each) => ({ ...each, storageType: each.highPerformance ? "PURE" : "CEPH_FS" })),
    containerRegistryCreds: () => [...auth.values()],
    secrets: () => [...secret.values()].map((each) => ({ ...each, lastUpdatedAt: each.changedAt })),
  };
}

/** Returns the settings of a save, in the form in which the account holds them. */
function savedSettings(input: Fields): Partial<HeldEndpoint> {
  const { id: _, template: __, networkVolumeId, networkVolumeIds, env, instanceIds, ...plain } = input;
  const given = Object.entries(plain).map(([field, value]) => [field, value ?? EMPTY[field] ?? ""]);
  const volumes = networkVolumeIds as { networkVolumeId: string }[] | null | undefined;
  return {
    ...Object.fromEntries(given),
    instanceIds: (instanceIds as string[] | null | undefined) ?? [],
    ...(networkVolumeId !== undefined && { networkVolumeIds: networkVolumeId ? [String(networkVolumeId)] : [] }),
    ...(volumes &&
      (volumes.length > 0 || !networkVolumeId) && { networkVolumeIds: volumes.map((each) => each.networkVolumeId) }),
    ...(env !== undefined && { ownEnv: asMap(env) }),
  };
}

const EMPTY: Fields = { flashBootType: "OFF", modelReferences: [], compliance: [], executionTimeoutMs: 0, type: "QB" };
/** A change of one of these is a new version. */
const OF_RELEASE = [
  "templateId",
  "gpuIds",
  "instanceIds",
  "gpuCount",
  "locations",
  "networkVolumeIds",
  "flashBootType",
];

function saveEndpoint(account: Account, input: Fields): HeldEndpoint {
  const settings = savedSettings(input);
  const template = input.template as (Partial<HeldTemplate> & { env: unknown }) | undefined;
  if (template && input.templateId) throw refused("template and templateId cannot be used together");
  if (settings.templateId && !account.records.template.has(settings.templateId))
    throw refused("Unable to find template");
  if (input.id === undefined) {
    if (!settings.gpuIds && settings.instanceIds?.length === 0) throw refused("gpuIds or instanceIds is required");
    return account.addEndpoint(settings, template && ({ ...template, env: asMap(template.env) } as HeldContainer));
  }
  const endpoint = account.records.endpoint.get(String(input.id));
  if (!endpoint) throw refused("Endpoint not found");
  const before = JSON.stringify(OF_RELEASE.map((field) => endpoint[field as keyof HeldEndpoint]));
  Object.assign(endpoint, settings);
  const after = JSON.stringify(OF_RELEASE.map((field) => endpoint[field as keyof HeldEndpoint]));
  if (before !== after) endpoint.version += 1;
  return endpoint;
}

function saveTemplate(account: Account, { id, env, category: _, portsConfig: __, ...input }: Fields): HeldTemplate {
  const settings = { ...Object.fromEntries(Object.entries(input).map(([k, v]) => [k, v ?? ""])), env: asMap(env) };
  const isTaken = [...account.records.template.values()].some((each) => each.name === input.name && each.id !== id);
  if (isTaken) throw refused("Template name must be unique");
  if (id === undefined || id === null) return account.addTemplate(settings);
  const template = account.records.template.get(String(id));
  if (!template) throw refused("Template not found");
  Object.assign(template, { readme: "", ports: "", containerRegistryAuthId: "" }, settings);
  for (const endpoint of account.records.endpoint.values()) {
    if (endpoint.templateId === template.id) endpoint.version += 1;
  }
  return template;
}

function deleted(account: Account, kind: Kind, id: string, users: boolean, missing: string): null {
  if (!account.records[kind].has(id)) throw refused(missing);
  if (users) throw refused(`${kind} is in use`);
  account.delete(kind, id);
  return null;
}

function deleteEndpoint(account: Account, id: string): null {
  const endpoint = account.records.endpoint.get(id);
  const isOn = endpoint !== undefined && (endpoint.workersMin > 0 || endpoint.workersMax > 0);
  if (isOn) throw refused("workersMin and workersMax must be 0 before deletion");
  return deleted(account, "endpoint", id, false, "Endpoint not found");
}

function deleteTemplate(account: Account, name: string): null {
  const { template, endpoint } = account.records;
  const found = [...template.values()].find((each) => each.name === name);
  const isUsed = [...endpoint.values()].some((each) => each.templateId === found?.id);
  return deleted(account, "template", found?.id ?? "", isUsed, "Template not found");
}

interface Input {
  readonly input: Fields & { readonly id?: string };
}

function mutations(account: Account): Fields {
  const { volume, auth, secret, endpoint } = account.records;
  const changed = <T extends object>(records: Map<string, T>, { id = "", ...changes }: Fields & { id?: string }) => {
    const record = records.get(id);
    if (!record) throw refused("record not found");
    return Object.assign(record, changes);
  };
  const now = () => new Date().toISOString();
  return {
    saveEndpoint: ({ input }: Input) => shownEndpoint(account, saveEndpoint(account, input)),
    deleteEndpoint: ({ id }: { id: string }) => deleteEndpoint(account, id),
    saveTemplate: ({ input }: Input) => shownTemplate(saveTemplate(account, input)),
    deleteTemplate: ({ templateName }: { templateName: string }) => deleteTemplate(account, templateName),
    createNetworkVolume: ({ input: { name, size, dataCenterId, isNextGenStorage = false } }: Input) =>
      shownVolume(account.add("volume", { name, size, dataCenterId, highPerformance: isNextGenStorage } as never)),
    updateNetworkVolume: ({ input }: Input) => shownVolume(changed(volume, input)),
    deleteNetworkVolume: ({ input: { id = "" } }: Input) => {
      const isUsed = [...endpoint.values()].some((each) => each.networkVolumeIds.includes(id));
      return deleted(account, "volume", id, isUsed, "Tried to delete nonexistent network volume");
    },
    saveRegistryAuth: ({ input }: Input) => account.add("auth", { ...input } as never),
    updateRegistryAuth: ({ input }: Input) => changed(auth, input),
    deleteRegistryAuth: ({ registryAuthId }: { registryAuthId: string }) =>
      deleted(account, "auth", registryAuthId, false, "Registry auth not found"),
    secretCreate: ({ input }: Input) =>
      shownSecret(account.add("secret", { description: "", ...input, createdAt: now(), changedAt: now() } as never)),
    secretValueUpdate: ({ input }: Input) => shownSecret(changed(secret, { ...input, changedAt: now() })),
    secretDescriptionUpdate: ({ input }: Input) => shownSecret(changed(secret, input)),
    secretDelete: ({ id }: { id: string }) => deleted(account, "secret", id, false, "Secret not found"),
  };
}

const shownVolume = (each: { highPerformance: boolean }) => ({
  ...each,
  storageType: each.highPerformance ? "PURE" : "CEPH_FS",
});
const shownSecret = ({ value: _, changedAt, ...each }: { value: string; changedAt: string }) => ({
  ...each,
  lastUpdatedAt: changedAt,
});

/** Answers a document as the service does. */
export async function answerGraphql(account: Account, source: string): Promise<{ status: number; body: unknown }> {
  const rootValue = {
    myself: () => myself(account),
    podTemplate: ({ id }: { id: string }) => shownTemplate(account.records.template.get(id)),
    ...mutations(account),
  };
  const { data, errors } = await graphql({ schema: SCHEMA, source, rootValue });
  if (data === undefined) {
    const invalid = (errors ?? []).map(({ message }) => ({
      message,
      extensions: { code: "GRAPHQL_VALIDATION_FAILED" },
    }));
    return { status: 400, body: { errors: invalid } };
  }
  return { status: 200, body: { data, ...(errors && { errors }) } };
}
