import { isObject, objectOrEmpty, type Properties } from "../../../provider/engine/properties";
import { OLD_SECRET, type OldResource, type OldState } from "./oldResource";

/** The property that marks special values in a state, and its value for secrets. */
const SIGNATURE = "4dabf18193072939515e22adb298388d";
const SECRET_SIGNATURE = "1b47061264138c4ac30d75fd1eb44270";

/** Types of the providers `pulumi-runpod` and `pulumi-runpod-native`. */
const TYPE = /^runpod:index:(\w+)$/;

/** The state versions that this reader understands. */
const VERSIONS: readonly unknown[] = [3, 4];

/** Resources that the engine itself adds to every stack. */
const OF_ENGINE = /^pulumi:(pulumi:Stack$|providers:)/;

/**
 * Reads the resources of a state, either as exported by `pulumi stack export` or as stored by a
 * backend. The state of an empty stack has no resource list.
 * @throws Error if the state has an unknown version
 */
export function readPulumiState(state: Properties): OldState | undefined {
  const { deployment = objectOrEmpty(state.checkpoint).latest, version } = state;
  if (!isObject(deployment) && !isObject(state.checkpoint)) return undefined;
  const { resources = [], pending_operations: pending } = objectOrEmpty(deployment);
  if (!Array.isArray(resources)) return undefined;
  if (!VERSIONS.includes(version)) {
    const which = JSON.stringify(version) ?? "no version";
    throw new Error(
      `the state has version ${which}; this release reads ${VERSIONS.join(" and ")}. Use a newer release`,
    );
  }
  const all = resources.filter(isObject);
  const ours = all.filter(({ type }) => typeof type === "string" && TYPE.test(type));
  const dependents = dependentsOf(all);
  const providers = all.filter(({ type }) => type === "pulumi:providers:runpod");
  const unfinished = (Array.isArray(pending) ? pending : []).filter(isObject);
  return {
    tool: "pulumi",
    isEmpty: all.every(({ type }) => OF_ENGINE.test(String(type))) && unfinished.length === 0,
    resources: ours.map((each) => oldResource(each, dependents.get(String(each.urn)) ?? [], providers)),
    warnings: unfinished.map(pendingWarning).filter((warning) => warning !== undefined),
  };
}

function oldResource(
  resource: Properties,
  dependents: readonly string[],
  providers: readonly Properties[],
): OldResource {
  const { urn, type, provider } = resource;
  const address = String(urn);
  const name = lastPart(address);
  const options = (["protect", "retainOnDelete"] as const).filter((option) => resource[option] === true);
  const [, explicit] = /::pulumi:providers:runpod::(.*)::[^:]*$/.exec(String(provider)) ?? [];
  return {
    address,
    type: String(type),
    name,
    id: serviceId(resource, name),
    attributes: objectOrEmpty(withoutSecrets(resource.inputs)),
    options,
    provider: explicit === undefined || /^default(_|$)/.test(explicit) ? undefined : explicit,
    providerUrl: urlOf(providers.find(({ urn }) => String(provider).startsWith(`${String(urn)}::`))),
    dependents,
    obstacle: obstacleOf(resource),
  };
}

function urlOf(provider: Properties | undefined): OldResource["providerUrl"] {
  const { apiUrl } = objectOrEmpty(withoutSecrets(provider?.inputs));
  return apiUrl === OLD_SECRET || (typeof apiUrl === "string" && apiUrl !== "") ? apiUrl : undefined;
}

/**
 * Maps the URN of each resource to the URNs of the resources that make "pulumi state delete" refuse
 * to remove it.
 */
function dependentsOf(all: readonly Properties[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { urn, parent, deletedWith, dependencies, propertyDependencies } of all) {
    const byProperty = Object.values(objectOrEmpty(propertyDependencies));
    for (const needed of new Set([parent, deletedWith, dependencies, ...byProperty].flat()))
      if (typeof needed === "string") found.set(needed, [...(found.get(needed) ?? []), String(urn)]);
  }
  return found;
}

/** Returns the logical name at the end of a URN. The name itself may contain "::". */
function lastPart(urn: string): string {
  const [, name = urn] = /^urn:pulumi:(?:.*?)::(?:.*?)::(?:.*?)::(.*)$/s.exec(urn) ?? [];
  return name;
}

/**
 * Returns the record's id. The older provider uses the logical name as the resource's id and stores
 * the record's id in an output.
 */
function serviceId({ type, id, outputs }: Properties, name: string): string | undefined {
  const [, kind = ""] = TYPE.exec(String(type)) ?? [];
  const property = kind.charAt(0).toLowerCase() + kind.slice(1);
  const record = objectOrEmpty(objectOrEmpty(outputs)[property]);
  const found = typeof record.id === "string" ? record.id : id;
  if (typeof found !== "string" || found === "") return undefined;
  return record.id === undefined && found === name ? undefined : found;
}

function obstacleOf(resource: Properties): string | undefined {
  if (resource.delete === true)
    return "the old program has replaced it and still has to delete it: run the old program once more, or delete it by hand";
  if (resource.external === true) return "the old program only reads it. To read it here, use get or a data source";
  return undefined;
}

/** Returns a warning about an operation that the old tool did not finish. */
function pendingWarning({ resource, type }: Properties): string | undefined {
  const { urn, type: token } = objectOrEmpty(resource);
  if (typeof urn !== "string" || !TYPE.test(String(token))) return undefined;
  return (
    `the old tool was interrupted while ${String(type)} ${urn}: the state may differ from the service. Check the resource at the ` +
    "service, and run the old program's refresh first"
  );
}

/** Replaces secrets with `SECRET` and drops values that are not plain data. */
function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isObject(value)) return value;
  if (SIGNATURE in value) return value[SIGNATURE] === SECRET_SIGNATURE ? OLD_SECRET : undefined;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withoutSecrets(part)]));
}
