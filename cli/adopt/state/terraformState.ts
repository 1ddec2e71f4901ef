import { isObject, objectOrEmpty, type Properties } from "../../../provider/engine/properties";
import { OLD_SECRET, type OldResource, type OldState } from "./oldResource";

/** Attributes that contain a secret even if the state does not mark them as sensitive. */
const ALWAYS_SECRET: readonly string[] = ["password", "value", "volume_key"];

/** Reads the resources of a state as printed by `terraform state pull`. */
export function readTerraformState(state: Properties): OldState | undefined {
  if (!Array.isArray(state.resources) || state.version !== 4) return undefined;
  const managed = state.resources
    .filter(isObject)
    .filter(({ mode, type }) => mode === "managed" && String(type).startsWith("runpod_"));
  const isEmpty = state.resources.length === 0;
  return { tool: "terraform", isEmpty, resources: managed.flatMap(instancesOf), warnings: [] };
}

function instancesOf(resource: Properties): OldResource[] {
  const instances = Array.isArray(resource.instances) ? resource.instances.filter(isObject) : [];
  return instances.map((instance) => oldResource(resource, instance));
}

function oldResource({ module, type, name, provider }: Properties, instance: Properties): OldResource {
  const { index_key: key, attributes: given, sensitive_attributes: paths } = instance;
  const index = key === undefined || key === null ? "" : `[${JSON.stringify(key)}]`;
  const place = typeof module === "string" ? `${module}.` : "";
  const [, alias] = /\]\.(\w+)$/.exec(String(provider)) ?? [];
  const marked = Object.fromEntries(
    Object.entries(objectOrEmpty(given)).map(([field, value]) => [
      field,
      ALWAYS_SECRET.includes(field) && value !== null ? OLD_SECRET : value,
    ]),
  );
  const attributes = (Array.isArray(paths) ? paths : []).reduce<unknown>(
    (value, path) => (Array.isArray(path) ? hide(value, path.map(stepOf)) : value),
    marked,
  );
  const { id } = marked;
  return {
    address: `${place}${String(type)}.${String(name)}${index}`,
    type: String(type),
    name: key === undefined || key === null ? String(name) : `${String(name)}-${String(key)}`,
    id: typeof id === "string" && id !== "" ? id : undefined,
    attributes: objectOrEmpty(attributes),
    options: [],
    provider: alias,
    // A Terraform state does not contain provider settings.
    providerUrl: undefined,
    dependents: [],
    obstacle: obstacleOf(instance),
  };
}

function obstacleOf({ deposed, status }: Properties): string | undefined {
  if (deposed !== undefined)
    return "the old program has replaced it and still has to delete it: apply the old program once more, or delete it by hand";
  if (status === "tainted")
    return 'it is tainted: the old program would replace it. If it works, run "terraform untaint" and pull the state again';
  return undefined;
}

/** Returns the key or index of one step in a `sensitive_attributes` path. */
function stepOf(step: unknown): string {
  const { value } = objectOrEmpty(step);
  return String(isObject(value) ? value.value : value);
}

/** Replaces the value at the end of the path with `SECRET`. */
function hide(value: unknown, [step, ...rest]: readonly string[]): unknown {
  if (step === undefined) return value === null || value === undefined ? value : OLD_SECRET;
  if (Array.isArray(value)) return value.map((part, index) => (String(index) === step ? hide(part, rest) : part));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, key === step ? hide(part, rest) : part]));
}
