import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import {
  isObject,
  type Properties,
  SECRET_KEY,
  SECRET_SIGNATURE,
  SIGNATURE,
  secretValue,
  UNKNOWN,
} from "../../provider/engine/properties";

/**
 * The engine's placeholders for unknown strings, booleans, numbers, lists, assets, archives and
 * objects.
 */
const UNKNOWNS = new Set([
  UNKNOWN,
  "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
  "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
  "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
  "030794c1-ac77-496b-92df-f27374a8bd58",
  "e48ece36-62e2-4504-bad9-02848725956a",
  "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
]);

/**
 * Properties as plain values, and the names of the secret ones, such as `password` or
 * `env.HF_TOKEN`.
 */
export interface Received {
  readonly properties: Properties;
  readonly secrets: readonly string[];
}

/** Returns the plain values of a struct. Every value that is not yet known is `UNKNOWN`. */
export function receive(struct: Struct | undefined): Received {
  const secrets = new Set<string>();
  const plain = (value: unknown, path: readonly string[]): unknown => {
    if (typeof value === "string") return UNKNOWNS.has(value) ? UNKNOWN : value;
    if (Array.isArray(value)) return value.map((element) => plain(element, path));
    if (typeof value !== "object" || value === null) return value;
    const { [SIGNATURE]: signature, value: inner } = value as Properties;
    if (signature === SECRET_SIGNATURE) {
      secrets.add(nameOf(path));
      return plain(inner, path);
    }
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each, [...path, key])]));
  };
  const properties = plain(struct?.toJavaScript() ?? {}, []) as Properties;
  return { properties, secrets: [...secrets] };
}

/**
 * Returns a struct in which the named properties are secret. Names of absent properties are
 * ignored.
 */
export function toWire(properties: Properties, secrets: Iterable<string> = []): Struct {
  const marked = { ...properties };
  for (const name of secrets) {
    const [field = "", key] = name.split(".");
    if (!(field in marked)) continue;
    const value = marked[field];
    if (key === undefined || !isPlainObject(value)) marked[field] = secretValue(value);
    else if (key in value) marked[field] = { ...value, [key]: secretValue(value[key]) };
  }
  return Struct.fromJavaScript(marked as Parameters<typeof Struct.fromJavaScript>[0]);
}

function nameOf([field = "", key]: readonly string[]): string {
  return key !== undefined && SECRET_KEY.test(key) ? `${field}.${key}` : field;
}

function isPlainObject(value: unknown): value is Properties {
  return isObject(value) && !isSecret(value);
}

function isSecret(value: unknown): boolean {
  return typeof value === "object" && value !== null && (value as Properties)[SIGNATURE] === SECRET_SIGNATURE;
}
