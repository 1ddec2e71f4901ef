import { isDeepStrictEqual } from "node:util";
import type { EnvChanges } from "../containers/record";
import { FIELDS, isEndpointField } from "./fields";
import { checkEndpointFields } from "./input";
import type { Endpoint, EndpointChanges } from "./record";
import type { EndpointRelease } from "./releases";

/** The names that REST v2 uses for fields, if they differ from the names in this package. */
const FIELDS_BY_WORD: Readonly<Record<string, string>> = {
  image: "imageName",
  args: "dockerArgs",
  disk: "containerDiskInGb",
  registry: "containerRegistryAuthId",
  flashboot: "flashBootType",
  dataCenterIds: "locations",
  networkVolumes: "networkVolumeIds",
};

/** Returns the field to which a name in a release refers, such as `template.imageName`. */
export function fieldOfRelease(word: string): string {
  const own = word.slice(word.lastIndexOf(".") + 1);
  return FIELDS_BY_WORD[own] ?? own;
}

type Env = Readonly<Record<string, unknown>>;

/**
 * Returns the environment variables of a release. The release shows them either as an object or as
 * a list of names and values.
 */
function variablesOfRelease(shown: unknown): Env {
  if (Array.isArray(shown)) return Object.fromEntries(shown.map(({ key, value }) => [key, value]));
  return typeof shown === "object" && shown !== null ? { ...shown } : {};
}

/** The changes that restore an endpoint's settings to those of a release. */
interface ChangesToRelease {
  readonly changes: EndpointChanges;
  /**
   * The names of changed fields that cannot be restored, because they are not settings of an
   * endpoint.
   */
  readonly unknown: readonly string[];
  /** The later releases that the service does not show. Their changes are unknown. */
  readonly missing: readonly VersionRange[];
}

/** A range of an endpoint's versions, including both ends. */
interface VersionRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Returns the versions that are missing between these releases.
 * @param releases the releases, newest first
 */
export function missingReleases(releases: readonly EndpointRelease[]): VersionRange[] {
  const versions = releases.flatMap(({ version }) => version ?? []);
  return versions.flatMap((version, index) => {
    const older = versions[index + 1];
    return older !== undefined && version - older > 1 ? [{ first: older + 1, last: version - 1 }] : [];
  });
}

/** Returns missing versions as text: `release 6`, or `releases 6 to 8`. */
export function shownVersions(missing: readonly VersionRange[]): string {
  return missing
    .map(({ first, last }) => (first === last ? `release ${first}` : `releases ${first} to ${last}`))
    .join(", ");
}

/**
 * Returns the changes that restore an endpoint's settings to those of one of its releases, by
 * undoing all later releases. Returns `undefined` if the release is not in the list.
 * @param releases the releases, newest first
 */
export function changesToRelease(releases: readonly EndpointRelease[], id: string): ChangesToRelease | undefined {
  const position = releases.findIndex((release) => release.id === id || String(release.version) === id);
  if (position < 0) return undefined;
  const now = new Map<string, unknown>();
  const then = new Map<string, unknown>();
  for (const { field, old, new: value } of releases.slice(0, position).flatMap(({ changes }) => changes)) {
    if (!now.has(field)) now.set(field, value);
    then.set(field, old);
  }
  const changed = [...then].filter(([word, value]) => !isDeepStrictEqual(value, now.get(word)));
  const settings = changed.map(([word, value]) => [word, settingOf(word, value, now.get(word))] as const);
  const known = settings.flatMap(([, setting]) => (setting ? [setting] : []));
  return {
    changes: Object.fromEntries(known) as EndpointChanges,
    unknown: settings.flatMap(([word, setting]) => (setting ? [] : [word])),
    missing: missingReleases(releases.slice(0, position + 1)),
  };
}

/**
 * Returns a field and the value to set, or `undefined` if the field cannot be set to this value.
 */
function settingOf(word: string, value: unknown, now: unknown): readonly [string, unknown] | undefined {
  const field = fieldOfRelease(word);
  if (!isEndpointField(field) || field === "templateId") return undefined;
  if (field === "env") return [field, envChanges(variablesOfRelease(value), variablesOfRelease(now))];
  if (value === null || value === undefined) return [field, null];
  if (FIELDS[field].isList && Array.isArray(value)) {
    return value.every((each) => typeof each === "string") ? [field, value.join(",")] : undefined;
  }
  return typeof value === "object" ? undefined : [field, value];
}

function envChanges(then: Env, now: Env): EnvChanges {
  const removed = Object.keys(now).filter((name) => !Object.hasOwn(then, name));
  const set = Object.entries(then).filter(([name, value]) => now[name] !== value);
  return Object.fromEntries([...set, ...removed.map((name) => [name, null] as const)]) as EnvChanges;
}

/**
 * Returns the changed fields that do not have the requested value after the change. Fields that the
 * service does not show are left out.
 */
export function notTaken(changes: EndpointChanges, after: Endpoint): string[] {
  const { env = {}, ...others } = changes;
  const wanted = checkEndpointFields(others).fields as Readonly<Record<string, unknown>>;
  const shown: Readonly<Record<string, unknown>> = { ...after };
  const fields = Object.keys(others).filter(
    (field) => shown[field] !== undefined && field in wanted && !isDeepStrictEqual(wanted[field], shown[field]),
  );
  const variables = Object.entries(env ?? {}).some(([name, value]) => (after.env?.[name] ?? null) !== value);
  return after.env !== undefined && variables ? [...fields, "env"] : fields;
}
